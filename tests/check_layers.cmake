# Who may include whom: kernels <- src <- host. Fails with a list of "file:line: include (reason)".
#
#   cmake -DROOT=<repository> -P tests/check_layers.cmake
#
# It reads lines, it does not preprocess: an #include at the start of a line counts, wherever it stands.
cmake_minimum_required(VERSION 3.25)

if(NOT DEFINED ROOT)
  cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH ROOT)
endif()

# The whole rule book: `why` becomes the reason why `file` may not include `header`, or stays empty.
function(judge_include file quote header why)
  set(reason "")
  cmake_path(GET file EXTENSION LAST_ONLY extension)

  # Quoted means ours, and ours is written from the root of the repository.
  if(quote STREQUAL "\"" AND (header MATCHES "(^|/)\\.\\.?/" OR NOT EXISTS "${ROOT}/${header}"))
    set(reason "quoted includes are paths from the root of the repository")

  # Each room sees itself and what lies below it.
  elseif(quote STREQUAL "\"" AND file MATCHES "^kernels/" AND NOT header MATCHES "^kernels/")
    set(reason "kernels may include only kernels")
  elseif(quote STREQUAL "\"" AND file MATCHES "^src/" AND NOT header MATCHES "^(src/|kernels/(status|layout)\\.h$)")
    set(reason "src may include only src, kernels/status.h and kernels/layout.h")
  elseif(quote STREQUAL "\"" AND file MATCHES "^host/" AND NOT header MATCHES "^(src|kernels|host)/")
    set(reason "host may include only src, kernels and host")

  # Libraries have their places.
  elseif(header MATCHES "^(cuda|nvrtc|nvJitLink|thrust/|cub/|cooperative_groups)" AND NOT extension STREQUAL ".cu"
         AND NOT file MATCHES "^host/(backend_cuda\\.|cuda_)")
    set(reason "CUDA belongs in host/backend_cuda.*, host/cuda_* and .cu files")
  elseif(header STREQUAL "mpi.h" AND NOT file STREQUAL "host/mpi_module.cpp")
    set(reason "MPI belongs in host/mpi_module.cpp, a library of its own")
  elseif(header MATCHES "^CLI(/|11)" AND NOT file MATCHES "^host/(main|command_[^/]*)\\.cpp$")
    set(reason "CLI11 belongs in host/main.cpp and host/command_*.cpp")
  elseif(quote STREQUAL "<" AND file MATCHES "^kernels/" AND NOT extension STREQUAL ".cu"
         AND NOT file STREQUAL "kernels/portable.h")
    set(reason "in kernels only portable.h and .cu files may include system headers")
  elseif(quote STREQUAL "<" AND file MATCHES "^src/" AND NOT header MATCHES "^([a-z0-9_]+$|Eigen/)")
    set(reason "src may use only the standard library and Eigen")
  endif()

  set(${why} "${reason}" PARENT_SCOPE)
endfunction()

set(files "")
foreach(room kernels src host)
  file(GLOB_RECURSE found RELATIVE "${ROOT}" "${ROOT}/${room}/*.h" "${ROOT}/${room}/*.cpp" "${ROOT}/${room}/*.cu")
  list(APPEND files ${found})
endforeach()

set(offences "")
foreach(file IN LISTS files)
  # Lines become a list; what CMake's lists would trip over cannot occur in a path we allow.
  file(READ "${ROOT}/${file}" text)
  string(REGEX REPLACE "[][;\\]" "?" text "${text}")
  string(REPLACE "\n" ";" lines "${text}")

  set(number 0)
  foreach(line IN LISTS lines)
    math(EXPR number "${number} + 1")
    if(line MATCHES "^[ \t]*#[ \t]*include[ \t]*([<\"])([^>\"]+)[>\"]")
      set(quote "${CMAKE_MATCH_1}")
      set(header "${CMAKE_MATCH_2}")
      judge_include("${file}" "${quote}" "${header}" why)
      if(why)
        string(REPLACE "<" ">" closing "${quote}")
        string(APPEND offences "${file}:${number}: ${quote}${header}${closing} (${why})\n")
      endif()
    endif()
  endforeach()
endforeach()

list(LENGTH files count)
if(offences)
  # Plain lines first: FATAL_ERROR would fold them.
  message(NOTICE "${offences}")
  message(FATAL_ERROR "Includes that break the layers are listed above.")
endif()
message(STATUS "layers: ${count} files keep the rules")
