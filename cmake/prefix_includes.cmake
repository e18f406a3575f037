# Run at installation: #include "host/run/run.h" becomes #include "zwang/host/run/run.h" in the headers below ZWANG_HEADERS.
file(GLOB_RECURSE headers "${ZWANG_HEADERS}/*.h")
foreach(header IN LISTS headers)
  file(READ "${header}" text)
  string(REGEX REPLACE "#include \"(src|host|kernels)/" "#include \"zwang/\\1/" prefixed "${text}")
  if(NOT prefixed STREQUAL text)
    file(WRITE "${header}" "${prefixed}")
  endif()
endforeach()
