// What a crash of a fuzz target leaves behind: the input that caused it in a file, and its name on stderr.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>

namespace zwang::fuzz {

constexpr const char* crash_file = "fuzz_crash_input";

// The longest time for one input, in seconds of the clock: a deadlock uses no processor time.
constexpr unsigned input_seconds = 60;

// The input under way. Everything the handler prints is written before the input runs.
struct InputUnderWay {
  const char* data = nullptr;
  std::size_t size = 0;
  std::array<char, 512> name{};
};
inline InputUnderWay under_way;

// Only calls that POSIX allows in a signal handler: a damaged heap aborts inside malloc, whose lock is then
// held, so that the next allocation would wait for ever.
inline void write_whole(int file, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(file, data, size);
    if (written <= 0) return;
    data += written;
    size -= static_cast<std::size_t>(written);
  }
}
inline void write_words(const char* words) { write_whole(STDERR_FILENO, words, std::strlen(words)); }

inline void leave_input(int signal) {
  write_words(signal == SIGALRM ? "too slow: " : "crash: ");
  write_words(under_way.name.data());
  const int file =
      under_way.data != nullptr ? ::open(crash_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : -1;
  if (file >= 0) {
    write_whole(file, under_way.data, under_way.size);
    ::close(file);
    write_words("; the input is in ");
    write_words(crash_file);
  }
  write_words("\n");
  ::raise(signal);  // with the default action, which ends the process
}

// The handler has a stack of its own, because recursion without end leaves none.
inline void leave_inputs_of_crashes() {
  static std::array<char, 65536> stack;
  stack_t own{};
  own.ss_sp = stack.data();
  own.ss_size = stack.size();
  ::sigaltstack(&own, nullptr);
  struct sigaction action {};
  action.sa_handler = leave_input;
  action.sa_flags = static_cast<int>(SA_ONSTACK | SA_RESETHAND | SA_NODEFER);
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGALRM})
    ::sigaction(signal, &action, nullptr);
}

inline void begin_input(const std::string& text, const std::string& name) {
  under_way.data = text.data();
  under_way.size = text.size();
  std::snprintf(under_way.name.data(), under_way.name.size(), "%s", name.c_str());
  ::alarm(input_seconds);
}

}  // namespace zwang::fuzz
