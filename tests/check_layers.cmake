# Which file may include which header. Fails with a list of "file:line: include (reason)".
#
#   cmake -DROOT=<repository> -P tests/check_layers.cmake
#
# Folders: kernels <- src <- host <- python. Within a folder the rooms below are listed lowest first; a file may include its own
# room and rooms listed before it. The check reads lines and does not preprocess: every #include at the start of a line
# counts. tests/check_includes.py reads the same lists.
cmake_minimum_required(VERSION 3.25)

set(kernels_rooms base simd sampling reduce integrator rootfinding dynamics record event member lanes entry)
set(src_rooms base expression formula system quadratic_program laws reference analysis emit)
set(host_rooms platform toml netcdf study sample study_file import estimators statistics program backend backend/cuda run files rank results check
  inspect report command)
set(python_rooms binding)

if(NOT DEFINED ROOT)
  cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH ROOT)
endif()

# The room of a file and its place in the list of its folder; -1 where it is in none.
function(room_of file folder_result place_result room_result)
  string(REGEX MATCH "^[a-z]+" folder "${file}")
  string(REGEX REPLACE "^[a-z]+/(.*)/[^/]+$" "\\1" room "${file}")
  list(FIND ${folder}_rooms "${room}" place)
  set(${folder_result} "${folder}" PARENT_SCOPE)
  set(${place_result} ${place} PARENT_SCOPE)
  set(${room_result} "${room}" PARENT_SCOPE)
endfunction()

# `why` becomes the reason why `file` may not include `header`, or stays empty.
function(check_include file quote header why)
  set(reason "")
  cmake_path(GET file EXTENSION LAST_ONLY extension)
  room_of("${file}" folder place room)
  room_of("${header}" header_folder header_place header_room)

  # Quoted includes are our own files, written from the root of the repository.
  if(quote STREQUAL "\"" AND (header MATCHES "(^|/)\\.\\.?/" OR NOT EXISTS "${ROOT}/${header}"))
    set(reason "quoted includes are paths from the root of the repository")

  # Folders.
  elseif(quote STREQUAL "\"" AND folder STREQUAL "kernels" AND NOT header_folder STREQUAL "kernels")
    set(reason "kernels may include only kernels")
  elseif(quote STREQUAL "\"" AND folder STREQUAL "src" AND NOT header MATCHES "^(src/|kernels/base/(audit_bound|layout|status)\\.h$)")
    set(reason "src may include only src, kernels/base/audit_bound.h, layout.h and status.h")
  elseif(quote STREQUAL "\"" AND folder STREQUAL "host" AND NOT header_folder MATCHES "^(src|kernels|host)$")
    set(reason "host may include only src, kernels and host")
  elseif(header MATCHES "^(nanobind/|Python[.]h)" AND NOT file MATCHES "^python/binding/")
    set(reason "Python belongs in python/binding")

  # Rooms.
  elseif(place EQUAL -1)
    set(reason "${folder}/${room} is not in the list of rooms")
  elseif(quote STREQUAL "\"" AND folder STREQUAL header_folder AND header_place EQUAL -1)
    set(reason "${folder}/${header_room} is not in the list of rooms")
  elseif(quote STREQUAL "\"" AND folder STREQUAL header_folder AND header_place GREATER place)
    set(reason "room ${room} may not include room ${header_room}, which is above it")

  # Libraries.
  elseif(header MATCHES "^(cuda|nvrtc|nvJitLink|thrust/|cub/|cooperative_groups)" AND NOT extension STREQUAL ".cu"
         AND NOT file MATCHES "^host/backend/cuda/")
    set(reason "CUDA belongs in host/backend/cuda and .cu files")
  elseif(header STREQUAL "mpi.h" AND NOT file STREQUAL "host/rank/mpi_module.cpp")
    set(reason "MPI belongs in host/rank/mpi_module.cpp, a library of its own")
  elseif(header MATCHES "^CLI(/|11)" AND NOT file MATCHES "^host/command/[^/]*\\.cpp$")
    set(reason "CLI11 belongs in host/command")
  elseif(header MATCHES "^pugi" AND NOT file MATCHES "^host/import/")
    set(reason "pugixml belongs in host/import")
  elseif(quote STREQUAL "<" AND folder STREQUAL "kernels" AND NOT extension STREQUAL ".cu"
         AND NOT file STREQUAL "kernels/base/portable.h")
    set(reason "in kernels only base/portable.h and .cu files may include system headers")
  elseif(quote STREQUAL "<" AND folder STREQUAL "src" AND NOT header MATCHES "^([a-z0-9_]+$|Eigen/)")
    set(reason "src may use only the standard library and Eigen")
  endif()

  set(${why} "${reason}" PARENT_SCOPE)
endfunction()

set(files "")
foreach(folder kernels src host python)
  file(GLOB_RECURSE found RELATIVE "${ROOT}" "${ROOT}/${folder}/*.h" "${ROOT}/${folder}/*.cpp" "${ROOT}/${folder}/*.cu")
  list(APPEND files ${found})
endforeach()

set(offences "")
foreach(file IN LISTS files)
  # Lines become a CMake list; characters that would split it further cannot occur in an allowed path.
  file(READ "${ROOT}/${file}" text)
  string(REGEX REPLACE "[][;\\]" "?" text "${text}")
  string(REPLACE "\n" ";" lines "${text}")

  set(number 0)
  foreach(line IN LISTS lines)
    math(EXPR number "${number} + 1")
    if(line MATCHES "^[ \t]*#[ \t]*include[ \t]*([<\"])([^>\"]+)[>\"]")
      set(quote "${CMAKE_MATCH_1}")
      set(header "${CMAKE_MATCH_2}")
      check_include("${file}" "${quote}" "${header}" why)
      if(why)
        string(REPLACE "<" ">" closing "${quote}")
        string(APPEND offences "${file}:${number}: ${quote}${header}${closing} (${why})\n")
      endif()
    # Conditional text stands in one file of the kernels; all others are the same text on every machine.
    elseif(file MATCHES "^kernels/" AND NOT file STREQUAL "kernels/base/portable.h"
           AND line MATCHES "^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else)([ \t]|$)")
      string(APPEND offences "${file}:${number}: #${CMAKE_MATCH_1} (conditional text belongs in kernels/base/portable.h)\n")
    endif()
  endforeach()
endforeach()

list(LENGTH files count)
if(offences)
  # As a notice first: FATAL_ERROR would wrap the lines.
  message(NOTICE "${offences}")
  message(FATAL_ERROR "Includes that break the layers are listed above.")
endif()
message(STATUS "layers: ${count} files keep the rules")
