# Rules of `cmake --install` and `cpack`: the program, its studies and docs, and the libraries for other projects.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS zwang RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(DIRECTORY configs DESTINATION "${CMAKE_INSTALL_DATADIR}/zwang" FILES_MATCHING PATTERN "*.toml")
install(FILES README.md CHANGELOG.md CONTRIBUTING.md LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY docs/ DESTINATION "${CMAKE_INSTALL_DOCDIR}/docs")

# The program prints its own shell completion, so that the two always agree. It is run at installation and not in the build,
# since a build with sanitizers does not start on every machine.
install(CODE "execute_process(COMMAND \"$<TARGET_FILE:zwang>\" completion
  OUTPUT_FILE \"${PROJECT_BINARY_DIR}/zwang.bash\" COMMAND_ERROR_IS_FATAL ANY)")
install(FILES "${PROJECT_BINARY_DIR}/zwang.bash"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" RENAME zwang)

# --- Libraries: include paths as in the repository ("host/study/study.h"), below include/zwang ---
foreach(room src host kernels)
  install(DIRECTORY ${room} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/zwang" FILES_MATCHING PATTERN "*.h")
endforeach()
install(TARGETS zwang_mechanics zwang_ensemble zwang_kernel_text zwang_report_text zwang_source_checksum EXPORT ZwangTargets
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
# The Debian packages of the libraries the program is linked with, found by dpkg.
find_program(ZWANG_SHLIBDEPS dpkg-shlibdeps)
mark_as_advanced(ZWANG_SHLIBDEPS)
if(ZWANG_SHLIBDEPS)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
else()
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6, libstdc++6, libnetcdf19, libfmt9")
endif()
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++")  # compiles studies for the cpu backend
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
include(CPack)
