# Proof that check_layers.cmake can say no: a made-up tree with one breach of every rule, and with neighbours
# that are allowed. ctest expects this script to FAIL (WILL_FAIL), so it ends quietly only when the check was wrong.
#
#   cmake -DROOT=<scratch folder> -P tests/layers_can_fail.cmake
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE "${ROOT}")

# Allowed: none of these may be reported.
file(WRITE "${ROOT}/kernels/base/status.h" "// nothing; [odd; text] \\\n")
file(WRITE "${ROOT}/kernels/dynamics/shock.h" "#include \"kernels/base/status.h\"\n")
file(WRITE "${ROOT}/kernels/base/portable.h" "#include <cmath>\n")
file(WRITE "${ROOT}/kernels/reduce.cu" "#include <cub/cub.cuh>\n#include \"kernels/base/status.h\"\n")
file(WRITE "${ROOT}/src/system/system.h" "#include <vector>\n#include <Eigen/Dense>\n#include \"kernels/base/status.h\"\n")
file(WRITE "${ROOT}/host/backend/cuda/backend_cuda.cpp" "#include <cuda.h>\n#include <nvrtc.h>\n#include \"src/system/system.h\"\n")
file(WRITE "${ROOT}/host/command/main.cpp" "#include <CLI/CLI.hpp>\n#include \"kernels/dynamics/shock.h\"\n")
file(WRITE "${ROOT}/host/rank/mpi_module.cpp" "#include <mpi.h>\n")

# Breaches: each must be reported, at its line.
file(WRITE "${ROOT}/kernels/event/first_event.h" "\n#include <cmath>\n#include \"src/system/system.h\"\n")
file(WRITE "${ROOT}/src/laws/shock.cpp" "// a;b\n\n# include <toml++/toml.h>\n#include \"kernels/dynamics/shock.h\"\n#include \"system.h\"\n")
file(WRITE "${ROOT}/host/run/run.cpp" "#include <CLI/CLI.hpp>\n#include <cuda_runtime.h>\n#include \"host/missing.h\"\n"
     "  #include \"src/../kernels/dynamics/shock.h\"\n#include <mpi.h>\n")
set(expected
  kernels/event/first_event.h:2: kernels/event/first_event.h:3:
  src/laws/shock.cpp:3: src/laws/shock.cpp:4: src/laws/shock.cpp:5:
  host/run/run.cpp:1: host/run/run.cpp:2: host/run/run.cpp:3: host/run/run.cpp:4: host/run/run.cpp:5:)

execute_process(COMMAND "${CMAKE_COMMAND}" "-DROOT=${ROOT}" -P "${CMAKE_CURRENT_LIST_DIR}/check_layers.cmake"
  RESULT_VARIABLE result OUTPUT_VARIABLE report ERROR_VARIABLE report)
string(REGEX MATCHALL "[a-z_/]+\\.(h|cpp|cu):[0-9]+:" reported "${report}")
list(FILTER reported INCLUDE REGEX "^(kernels|src|host)/")
list(SORT reported)
list(SORT expected)

if(result EQUAL 0 OR NOT reported STREQUAL expected)
  message(STATUS "check_layers.cmake misjudged\nexpected: ${expected}\nreported: ${reported}\n${report}")
  return()
endif()
message(FATAL_ERROR "Every breach was reported, as it should be.")
