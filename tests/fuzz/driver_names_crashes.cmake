# The driver of the fuzz targets ends at once when a target crashes, and leaves the input in a file.
#   cmake -DDRIVER=PROGRAM -DFOLDER=SCRATCH -P driver_names_crashes.cmake
foreach(way heap stack)
  file(REMOVE_RECURSE "${FOLDER}/${way}")
  file(WRITE "${FOLDER}/${way}/corpus/one" "${way}")
  execute_process(COMMAND "${DRIVER}" 1 "${FOLDER}/${way}/corpus" WORKING_DIRECTORY "${FOLDER}/${way}"
    TIMEOUT 30 RESULT_VARIABLE result OUTPUT_VARIABLE printed ERROR_VARIABLE printed)
  if(result EQUAL 0 OR result MATCHES "timeout")
    message(FATAL_ERROR "${way}: the driver ended with '${result}', expected the signal of a crash\n${printed}")
  endif()
  if(NOT printed MATCHES "crash: [^\n]*/corpus/one; the input is in fuzz_crash_input")
    message(FATAL_ERROR "${way}: the driver did not name the input:\n${printed}")
  endif()
  file(READ "${FOLDER}/${way}/fuzz_crash_input" left)
  if(NOT left STREQUAL way)
    message(FATAL_ERROR "${way}: the input left behind is '${left}', expected '${way}'")
  endif()
endforeach()
