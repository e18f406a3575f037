# Rules of `cmake --install` and `cpack`: the program, its studies and docs, and the libraries for other projects.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS zwang RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(DIRECTORY configs DESTINATION "${CMAKE_INSTALL_DATADIR}/zwang" FILES_MATCHING PATTERN "*.toml")
install(FILES README.md CHANGELOG.md CONTRIBUTING.md LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY docs/ DESTINATION "${CMAKE_INSTALL_DOCDIR}/docs")

# The program prints its own shell completion, so that the two always agree. It is run at installation and not in the build,
# since a build with sanitizers does not start on every machine.
# So is the manual page.
function(zwang_install_printed file folder name)
  install(CODE "execute_process(COMMAND \"$<TARGET_FILE:zwang>\" ${ARGN}
    OUTPUT_FILE \"${PROJECT_BINARY_DIR}/${file}\" COMMAND_ERROR_IS_FATAL ANY)")
  install(FILES "${PROJECT_BINARY_DIR}/${file}" DESTINATION "${folder}" RENAME "${name}")
endfunction()
zwang_install_printed(zwang.bash "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" zwang completion bash)
zwang_install_printed(zwang.zsh "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" _zwang completion zsh)
zwang_install_printed(zwang.fish "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" zwang.fish completion fish)
zwang_install_printed(zwang.1 "${CMAKE_INSTALL_MANDIR}/man1" zwang.1 man)

# --- Libraries: headers are <zwang/host/study/study.h>. Names such as host/ and src/ would clash with those of other projects,
# so the includes of the installed headers get the prefix too ---
foreach(room src host kernels)
  install(DIRECTORY ${room} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/zwang" FILES_MATCHING PATTERN "*.h")
endforeach()
install(CODE "set(ZWANG_HEADERS \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}/zwang\")")
install(SCRIPT "${PROJECT_SOURCE_DIR}/cmake/prefix_includes.cmake")
install(TARGETS zwang_mechanics zwang_ensemble zwang_kernel_text zwang_report_text zwang_config_text
  zwang_source_checksum EXPORT ZwangTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(EXPORT ZwangTargets NAMESPACE Zwang:: DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/Zwang")
configure_package_config_file(cmake/ZwangConfig.cmake.in "${PROJECT_BINARY_DIR}/ZwangConfig.cmake"
  INSTALL_DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/Zwang")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/ZwangConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/ZwangConfig.cmake" "${PROJECT_BINARY_DIR}/ZwangConfigVersion.cmake"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/Zwang")

# --- Packages: cpack in the build folder writes a .tar.gz that runs anywhere below one prefix, and a .deb ---
set(CPACK_GENERATOR "TGZ;DEB")
set(CPACK_PACKAGE_NAME zwang)
set(CPACK_PACKAGE_CONTACT "the authors of Zwang")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_STRIP_FILES ON)
# The Debian packages of the libraries the program is linked with, found by dpkg. MPI is needed by its module alone, which is
# loaded under a launcher: it is left out of the dependencies and recommended.
find_program(ZWANG_SHLIBDEPS dpkg-shlibdeps)
mark_as_advanced(ZWANG_SHLIBDEPS)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "g++")  # compiles studies for the cpu backend
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "openmpi-bin")
if(ZWANG_SHLIBDEPS)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  file(CONFIGURE OUTPUT shlibdeps_without_mpi.sh @ONLY CONTENT [=[#!/bin/sh
exec "@ZWANG_SHLIBDEPS@" -xlibopenmpi3 -xlibopenmpi3t64 -xlibopenmpi40 -xlibmpich12 "$@"
]=])
  file(CHMOD "${PROJECT_BINARY_DIR}/shlibdeps_without_mpi.sh"
    PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  # cpack reads this file first, and does not search for a program that is named already.
  file(CONFIGURE OUTPUT package_settings.cmake @ONLY CONTENT
    "set(SHLIBDEPS_EXECUTABLE \"@PROJECT_BINARY_DIR@/shlibdeps_without_mpi.sh\")\n")
  set(CPACK_PROJECT_CONFIG_FILE "${PROJECT_BINARY_DIR}/package_settings.cmake")
else()
  string(APPEND CPACK_DEBIAN_PACKAGE_DEPENDS ", libc6, libstdc++6, libnetcdf19, libfmt9, libpugixml1v5")
endif()
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
include(CPack)
