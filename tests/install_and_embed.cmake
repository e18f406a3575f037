# Installs the build, moves the installation to another folder, builds examples/embed against it, and packs it.
#
#   cmake -DBUILD=<build folder> -DSOURCE=<repository> -DCOMPILER=<c++> -P tests/install_and_embed.cmake
cmake_minimum_required(VERSION 3.25)

set(place "${BUILD}/install_and_embed")
file(REMOVE_RECURSE "${place}")

function(run)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE out ERROR_VARIABLE out RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGN}\nended with ${code}:\n${out}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

function(expect text)
  string(FIND "${out}" "${text}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "expected '${text}' in:\n${out}")
  endif()
endfunction()

# Moved after installing: the installation must not depend on its first place.
run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${place}/first")
file(RENAME "${place}/first" "${place}/moved")
run("${place}/moved/bin/zwang" list)
expect("slung_load")
foreach(file share/zwang/configs/slung_load.toml share/bash-completion/completions/zwang include/zwang/host/study/study.h
    share/zsh/site-functions/_zwang share/fish/vendor_completions.d/zwang.fish share/man/man1/zwang.1)
  if(NOT EXISTS "${place}/moved/${file}")
    message(FATAL_ERROR "${file} was not installed")
  endif()
endforeach()

# Another project.
run("${CMAKE_COMMAND}" -S "${SOURCE}/examples/embed" -B "${place}/embed" "-DCMAKE_PREFIX_PATH=${place}/moved"
    "-DCMAKE_CXX_COMPILER=${COMPILER}" -DCMAKE_BUILD_TYPE=Release)
run("${CMAKE_COMMAND}" --build "${place}/embed")
run("${place}/embed/embed_mechanics")
expect("multipliers 1.0 2.0")
run("${place}/embed/embed")
expect("200 members")

# Packages.
cmake_path(GET CMAKE_COMMAND PARENT_PATH tools)
find_program(CPACK cpack HINTS "${tools}" REQUIRED)
find_program(DPKG dpkg-deb)
run("${CMAKE_COMMAND}" -E chdir "${BUILD}" "${CPACK}" -G TGZ -B "${place}/packages")
file(GLOB archive "${place}/packages/*.tar.gz")
file(ARCHIVE_EXTRACT INPUT "${archive}" DESTINATION "${place}/unpacked")
file(GLOB program "${place}/unpacked/*/bin/zwang")
run("${program}" --version)
expect("zwang")
if(DPKG)
  run("${CMAKE_COMMAND}" -E chdir "${BUILD}" "${CPACK}" -G DEB -B "${place}/packages")
  file(GLOB package "${place}/packages/*.deb")
  run("${DPKG}" --contents "${package}")
  expect("bin/zwang")
  run("${DPKG}" --field "${package}" Depends)
  expect("g++")
  string(FIND "${out}" "openmpi" at)
  if(NOT at EQUAL -1)
    message(FATAL_ERROR "the package depends on MPI: ${out}")
  endif()
  run("${DPKG}" --field "${package}" Recommends)
  expect("openmpi-bin")
endif()
message(STATUS "installed, moved, embedded, packed")
