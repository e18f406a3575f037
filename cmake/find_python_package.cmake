# Whether the Python package is built, and with which Python: sets zwang_python_package, Python_EXECUTABLE and nanobind_ROOT.
#
# pip gives the interpreter it runs in. Otherwise the environment that `./dev install` makes in the folder of the builds is
# preferred to the Python on the PATH: it has nanobind, and what the tests need.
set(zwang_python_package FALSE)
# A module with a sanitizer would need an interpreter with one.
if(ZWANG_PYTHON_PACKAGE STREQUAL "OFF" OR ZWANG_FUZZ OR CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  return()
endif()
if(NOT SKBUILD AND NOT Python_EXECUTABLE)
  cmake_path(GET PROJECT_BINARY_DIR PARENT_PATH builds)
  if(EXISTS "${builds}/python_environment/bin/python")
    set(Python_EXECUTABLE "${builds}/python_environment/bin/python" CACHE FILEPATH "Python of the package")
  endif()
endif()
set(python_is_needed QUIET)
if(ZWANG_PYTHON_PACKAGE STREQUAL "ON")
  set(python_is_needed REQUIRED)
endif()
find_package(Python 3.10 ${python_is_needed} COMPONENTS Interpreter Development.Module)
if(Python_FOUND)
  execute_process(COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir OUTPUT_VARIABLE nanobind_ROOT
    OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
  if(failed EQUAL 0)
    set(zwang_python_package TRUE)
    message(STATUS "Python package: Python ${Python_VERSION}, ${Python_EXECUTABLE}")
    return()
  endif()
endif()
if(ZWANG_PYTHON_PACKAGE STREQUAL "ON")
  message(FATAL_ERROR "ZWANG_PYTHON_PACKAGE=ON: ${Python_EXECUTABLE} has no nanobind; pip install nanobind")
endif()
message(STATUS "Python package: none (no Python 3.10 or later with headers and nanobind; ./dev install makes one)")
