# Copies the shared libraries of a Python module into a folder beside it, as auditwheel does.
#
#   cmake -DMODULE=<module> -DFOLDER=<folder beside it> -DPATCHELF=<patchelf> -P cmake/bundle_libraries.cmake
#
# Each copy gets a name with its checksum, and the module and the copies ask for these names: a library of the same name that
# another module of the process has loaded is another library then. Without that, Python's ssl would run with the libssl of
# the wheel if that was loaded first. The C and C++ libraries are the system's, as in every wheel.
cmake_minimum_required(VERSION 3.25)

file(GET_RUNTIME_DEPENDENCIES MODULES "${MODULE}"
  RESOLVED_DEPENDENCIES_VAR libraries UNRESOLVED_DEPENDENCIES_VAR missing
  PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|resolv|util|gcc_s|stdc[+][+])[.]so")
if(missing)
  message(FATAL_ERROR "libraries of the module that were not found: ${missing}")
endif()

function(patchelf)
  execute_process(COMMAND "${PATCHELF}" ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE "${FOLDER}")
file(MAKE_DIRECTORY "${FOLDER}")
cmake_path(GET FOLDER FILENAME folder_name)
set(copies "")
set(renamed "")
foreach(library ${libraries})
  cmake_path(GET library FILENAME name)
  file(SHA256 "${library}" checksum)
  string(SUBSTRING "${checksum}" 0 8 checksum)
  string(REGEX REPLACE "[.]so" "-${checksum}.so" new_name "${name}")
  file(COPY_FILE "${library}" "${FOLDER}/${new_name}")
  file(CHMOD "${FOLDER}/${new_name}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
    WORLD_EXECUTE)
  list(APPEND copies "${new_name}")
  list(APPEND renamed --replace-needed "${name}" "${new_name}")
endforeach()
foreach(copy ${copies})
  patchelf(--set-soname "${copy}" ${renamed} --set-rpath "\$ORIGIN" "${FOLDER}/${copy}")
endforeach()
patchelf(${renamed} --set-rpath "\$ORIGIN/${folder_name}" "${MODULE}")
list(LENGTH copies count)
message(STATUS "${count} libraries in ${FOLDER}")
