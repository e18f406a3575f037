# Writes the C++ file that carries the text of kernels/*.h inside the program (host/kernel_text.h).
#
#   cmake -DROOT=<repository> -DNAMES=kernels/a.h;kernels/b.h -DOUTPUT=<file> -P cmake/embed_kernels.cmake
cmake_minimum_required(VERSION 3.25)

list(LENGTH NAMES count)

# A raw string keeps the text legible in the debugger and needs no escapes; its closing mark must not occur inside.
set(open "R\"zwang_text(")
set(close ")zwang_text\"")

set(entries "")
foreach(name IN LISTS NAMES)
  file(READ "${ROOT}/${name}" text)
  string(FIND "${text}" "${close}" clash)
  if(NOT clash EQUAL -1)
    message(FATAL_ERROR "${name} contains ${close}, the closing mark of the raw string that is to carry it")
  endif()
  string(APPEND entries "    {\"${name}\", ${open}${text}${close}},\n")
endforeach()

file(WRITE "${OUTPUT}" "// Generated from kernels/*.h by cmake/embed_kernels.cmake.
#include \"host/kernel_text.h\"

#include <array>

namespace zwang {
namespace {

constexpr std::array<KernelFile, ${count}> files{{
${entries}}};

}  // namespace

std::span<const KernelFile> kernel_files() { return files; }

}  // namespace zwang
")
