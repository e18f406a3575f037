# The checksum of the sources is the same for the same text, and differs after a change of one character in a kernel.
#
#   cmake -DROOT=<repository> -DFOLDER=<scratch> -P tests/check_source_checksum.cmake
cmake_minimum_required(VERSION 3.25)

function(checksum_of root result)
  execute_process(COMMAND "${CMAKE_COMMAND}" "-DROOT=${root}" "-DOUTPUT=${FOLDER}/checksum.cpp"
    -P "${ROOT}/cmake/source_checksum.cmake" COMMAND_ERROR_IS_FATAL ANY)
  file(READ "${FOLDER}/checksum.cpp" text)
  if(NOT text MATCHES "return \"([0-9a-f]+)\"")
    message(FATAL_ERROR "no checksum in\n${text}")
  endif()
  set(${result} "${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${FOLDER}")
foreach(room kernels src host)
  file(COPY "${ROOT}/${room}" DESTINATION "${FOLDER}/copy")
endforeach()
checksum_of("${ROOT}" here)
checksum_of("${FOLDER}/copy" copied)
file(APPEND "${FOLDER}/copy/kernels/dynamics/shock.h" " ")
checksum_of("${FOLDER}/copy" changed)
file(REMOVE_RECURSE "${FOLDER}")
if(NOT here STREQUAL copied OR here STREQUAL changed)
  message(FATAL_ERROR "found ${here} here, ${copied} of a copy, ${changed} with a kernel changed; "
    "expected the first two alike and the third another")
endif()
