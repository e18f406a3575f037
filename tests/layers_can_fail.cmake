# Verifies that check_layers.cmake detects a breach of every rule: a made-up tree with one breach of each, beside files that
# keep the rules and must not be reported.
#
#   cmake -DROOT=<scratch folder> -P tests/layers_can_fail.cmake
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE "${ROOT}")
set(expected "")

# A file that keeps the rules, line by line.
function(allowed file)
  list(JOIN ARGN "\n" text)
  file(WRITE "${ROOT}/${file}" "${text}\n")
endfunction()

# A file whose last line breaks a rule, for the given reason; the lines before it are allowed.
macro(breach file reason)
  set(breach_lines ${ARGN})
  list(LENGTH breach_lines number)
  list(JOIN breach_lines "\n" text)
  file(WRITE "${ROOT}/${file}" "${text}\n")
  list(APPEND expected "${file}:${number}: ${reason}")
endmacro()

# Files that keep the rules, also the headers that others include.
file(WRITE "${ROOT}/kernels/base/status.h" "// nothing; [odd; text] \\\n")
allowed(kernels/base/layout.h "#include \"kernels/base/status.h\"")
allowed(kernels/base/portable.h "#include <cmath>" "#if defined(__CUDA_ARCH__)" "#else" "#endif")
allowed(kernels/dynamics/shock.h "#include \"kernels/base/status.h\"")
allowed(kernels/entry/entry.h "#include \"kernels/dynamics/shock.h\"//" "#include \"kernels/entry/entry.h\"")
allowed(kernels/entry/reduce.cu "#include <cub/cub.cuh>" "#include \"kernels/base/status.h\"")
allowed(src/base/error.h "#include <string>")
allowed(src/system/system.h "#include <vector>" "#include <Eigen/Dense>" "#include \"kernels/base/status.h\""
  "#include \"src/base/error.h\"")
allowed(src/emit/emit.h "#include \"src/system/system.h\"")
allowed(host/platform/parallel.h "#include <thread>")
allowed(host/backend/backend.h "#include \"host/platform/parallel.h\"//" "#include \"src/emit/emit.h\"")
allowed(host/backend/cuda/backend_cuda.h "#include <cuda.h>" "#include <nvrtc.h>" "#include \"host/backend/backend.h\"")
allowed(host/run/run.h "#include \"host/backend/cuda/backend_cuda.h\"//" "#include \"kernels/dynamics/shock.h\"")
allowed(host/command/main.cpp "#include <CLI/CLI.hpp>" "#include \"host/run/run.h\"")
allowed(python/binding/module.cpp "#include <nanobind/nanobind.h>" "#include \"host/run/run.h\"")
allowed(host/rank/mpi_module.cpp "#include <mpi.h>")

breach(host/run/bad_python.cpp "Python belongs in python/binding" "#include <nanobind/nanobind.h>")
# Rooms: a room includes one above it, in each folder.
breach(kernels/base/bad_room.h "room base may not include room dynamics" "#include \"kernels/base/status.h\""
  "#include \"kernels/dynamics/shock.h\"")
breach(src/base/bad_room.cpp "room base may not include room system" "//" "#include \"src/system/system.h\"")
breach(host/platform/bad_room.cpp "room platform may not include room run" "#include \"host/run/run.h\"")
breach(host/backend/bad_room.cpp "room backend may not include room backend/cuda"
  "#include \"host/backend/cuda/backend_cuda.h\"")
breach(host/backend/cuda/bad_room.cpp "room backend/cuda may not include room run" "#include \"host/run/run.h\"")

# Rooms: one that is not in the list, as the place of a file and as the place of a header; a file in no room.
breach(kernels/attic/unlisted.h "kernels/attic is not in the list of rooms" "#include \"kernels/base/status.h\"")
breach(src/attic/unlisted.cpp "src/attic is not in the list of rooms" "#include \"src/base/error.h\"")
breach(host/attic/unlisted.cpp "host/attic is not in the list of rooms" "#include <vector>")
allowed(host/cellar/header.h "// no include")
breach(host/command/bad_unlisted.cpp "host/cellar is not in the list of rooms" "#include \"host/cellar/header.h\"")

# Folders: kernels <- src <- host.
breach(kernels/event/bad_folder.h "kernels may include only kernels" "// a line" "//" "#include \"src/system/system.h\"")
breach(src/laws/bad_folder.cpp "src may include only src" "#include \"kernels/base/layout.h\""
  "#include \"kernels/dynamics/shock.h\"")
breach(src/laws/bad_host.cpp "src may include only src" "#include \"host/platform/parallel.h\"")
allowed(tests/support/scratch.h "// a header of the tests")
breach(host/run/bad_folder.cpp "host may include only src, kernels and host" "#include \"tests/support/scratch.h\"")

# Quoted includes are paths from the root that exist.
breach(src/laws/bad_short.cpp "quoted includes are paths" "#include \"system.h\"")
breach(host/run/bad_missing.cpp "quoted includes are paths" "#include \"host/run/missing.h\"")
breach(host/run/bad_dots.cpp "quoted includes are paths" "  #include \"src/../kernels/dynamics/shock.h\"")

# Libraries.
breach(kernels/event/bad_system.h "only base/portable.h and .cu files" "//" "#include <cmath>")
breach(src/laws/bad_library.cpp "only the standard library and Eigen" "// a, b" "//" "# include <toml++/toml.h>")
breach(host/run/bad_cuda.cpp "CUDA belongs in" "#include <cuda_runtime.h>")
breach(host/backend/bad_nvrtc.cpp "CUDA belongs in" "#include <nvrtc.h>")
breach(host/rank/bad_mpi.cpp "MPI belongs in" "#include <mpi.h>")
breach(host/study_file/bad_xml.cpp "pugixml belongs in" "#include <pugixml.hpp>")
breach(host/run/bad_command_line.cpp "CLI11 belongs in" "#include <CLI/CLI.hpp>")
breach(host/command/bad_command_line.h "CLI11 belongs in" "#include <CLI/App.hpp>")

# Conditional text in kernels.
breach(kernels/simd/bad_if.h "conditional text belongs in" "#pragma once" "#if defined(__AVX2__)")
breach(kernels/simd/bad_ifdef.h "conditional text belongs in" "# ifdef __AVX2__")
breach(kernels/simd/bad_ifndef.h "conditional text belongs in" "  #ifndef GUARD")

execute_process(COMMAND "${CMAKE_COMMAND}" "-DROOT=${ROOT}" -P "${CMAKE_CURRENT_LIST_DIR}/check_layers.cmake"
  RESULT_VARIABLE result OUTPUT_VARIABLE report ERROR_VARIABLE report)

# Every breach is reported at its line and for its reason, and nothing else is.
set(complaints "")
if(result EQUAL 0)
  string(APPEND complaints "the check passed\n")
endif()
string(REGEX MATCHALL "(kernels|src|host)/[a-z_/]+\\.(h|cpp|cu):[0-9]+: [^\n]*" reported "${report}")
foreach(breach IN LISTS expected)
  string(REGEX MATCH "^([^ ]+) (.*)$" whole "${breach}")
  set(place "${CMAKE_MATCH_1}")
  set(reason "${CMAKE_MATCH_2}")
  set(found FALSE)
  foreach(line IN LISTS reported)
    string(FIND "${line}" "${place} " at)
    string(FIND "${line}" "${reason}" why)
    if(at EQUAL 0 AND why GREATER 0)
      set(found TRUE)
      list(REMOVE_ITEM reported "${line}")
      break()
    endif()
  endforeach()
  if(NOT found)
    string(APPEND complaints "not reported: ${breach}\n")
  endif()
endforeach()
foreach(line IN LISTS reported)
  string(APPEND complaints "reported, though allowed: ${line}\n")
endforeach()

if(complaints)
  message(NOTICE "${complaints}\n${report}")
  message(FATAL_ERROR "check_layers.cmake is wrong; see above.")
endif()
list(LENGTH expected count)
message(STATUS "layers: all of ${count} breaches were reported")
