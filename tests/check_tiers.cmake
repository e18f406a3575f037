# The default tier and the long tier together are the whole suite.
#
#   cmake -DBUILD=<build folder> -DEXECUTABLES=<test executables> -P tests/check_tiers.cmake
#
# Fails when a test of an executable is missing from ctest's list or occurs in it twice, when the two tiers overlap or leave
# a test out, and when a pattern of tests/tiers.cmake matches no test.
cmake_minimum_required(VERSION 3.25)
include("${CMAKE_CURRENT_LIST_DIR}/tiers.cmake")

# The names ctest lists, sorted.
function(listed_by_ctest result)
  execute_process(COMMAND "${CMAKE_CTEST_COMMAND}" --test-dir "${BUILD}" -N ${ARGN}
    OUTPUT_VARIABLE text ERROR_VARIABLE complaint RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "ctest -N ${ARGN}: ${complaint}")
  endif()
  string(REGEX MATCHALL "Test +#[0-9]+: [^\n]+" lines "${text}")
  list(TRANSFORM lines REPLACE "^Test +#[0-9]+: ([^ ]+).*" "\\1")
  list(SORT lines)
  set(${result} "${lines}" PARENT_SCOPE)
endfunction()

# The names an executable lists: a line per suite, and below it an indented line per test.
function(listed_by_executable executable result)
  execute_process(COMMAND "${executable}" --gtest_list_tests OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" lines "${text}")
  set(names "")
  set(suite "")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE " *#.*" "" line "${line}")
    if(line MATCHES "^([^ ]+\\.)$")
      set(suite "${CMAKE_MATCH_1}")
    elseif(line MATCHES "^  ([^ ]+)$")
      list(APPEND names "${suite}${CMAKE_MATCH_1}")
    endif()
  endforeach()
  set(${result} "${names}" PARENT_SCOPE)
endfunction()

listed_by_ctest(all)
listed_by_ctest(default -LE "long$")
listed_by_ctest(long -L "long$")
set(complaints "")

# No test twice, none in both tiers, none in neither.
set(once ${all})
list(REMOVE_DUPLICATES once)
list(LENGTH all count)
list(LENGTH once count_once)
if(NOT count EQUAL count_once)
  string(APPEND complaints "ctest lists ${count} tests, but only ${count_once} names\n")
endif()
set(both ${default} ${long})
list(SORT both)
if(NOT both STREQUAL all)
  string(APPEND complaints "the default tier and the long tier together are not the whole suite\n")
endif()

# Every test of every executable is in ctest's list.
set(in_executables "")
foreach(executable IN LISTS EXECUTABLES)
  listed_by_executable("${executable}" names)
  list(APPEND in_executables ${names})
endforeach()
foreach(name IN LISTS in_executables)
  # Tests with a type parameter: Suite/0.Test of the executable is Suite.Test<0> of ctest.
  string(REGEX REPLACE "^([A-Za-z_]+)/([0-9]+)\\.(.+)$" "\\1.\\3<\\2>" name "${name}")
  if(NOT name IN_LIST all AND NOT name MATCHES "DISABLED_")
    string(APPEND complaints "${name} is in no tier\n")
  endif()
endforeach()

# Every pattern matches, and what is kept in the default tier would be long otherwise.
foreach(pattern ${long_tests} ${kept_tests} ${long_gpu_tests} ${kept_gpu_tests})
  string(REGEX REPLACE "([.+^$()])" "\\\\\\1" regex "${pattern}")
  string(REPLACE "*" ".*" regex "${regex}")
  set(matching ${in_executables})
  list(FILTER matching INCLUDE REGEX "^${regex}$")
  if(NOT matching)
    string(APPEND complaints "the pattern ${pattern} matches no test\n")
  endif()
endforeach()

list(LENGTH default count_default)
list(LENGTH long count_long)
if(complaints)
  message(NOTICE "${complaints}")
  message(FATAL_ERROR "The tiers of tests/tiers.cmake are wrong; see above.")
endif()
message(STATUS "tiers: ${count_default} tests by default, ${count_long} long, ${count} in all")
