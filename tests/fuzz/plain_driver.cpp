// Driver of the fuzz targets without libFuzzer, for ctest and machines without clang: runs each file of the
// corpus, then random mutations of them with a fixed seed until the time is over.
//
//   fuzz_study_plain SECONDS FOLDER...
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/support/sanitized.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::vector<std::string> files_in(const std::vector<std::string>& folders) {
  std::vector<std::filesystem::path> paths;
  for (const std::string& folder : folders)
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.is_regular_file()) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> texts;
  for (const auto& path : paths) {
    std::ifstream stream(path, std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  return texts;
}

class Mutator {
 public:
  explicit Mutator(const std::vector<std::string>& corpus) : corpus_(corpus) {}

  std::string next() {
    std::string text = any();
    for (std::size_t turns = 1 + below(4); turns > 0; --turns) change(text);
    return text;
  }

 private:
  std::size_t below(std::size_t count) { return count == 0 ? 0 : dice_() % count; }
  const std::string& any() { return corpus_[below(corpus_.size())]; }

  void change(std::string& text) {
    const std::size_t at = below(text.size() + 1), length = below(40);
    switch (below(6)) {
      case 0:  // a random byte
        if (at < text.size()) text[at] = static_cast<char>(below(256));
        break;
      case 1:
        text.erase(std::min(at, text.size()), length);
        break;
      case 2:  // a piece of another file
        text.insert(at, piece(any(), length));
        break;
      case 3:  // a repeated piece of itself
        for (std::size_t i = below(20); i > 0; --i) text.insert(at, piece(text, length));
        break;
      case 4: {
        static const std::vector<std::string> words = {"1e308", "-1", "nan", "inf", "0", "[", "]", "{", "}",
                                                       "\"",    "'",  "^",   "(",   ")", "=", ".", ",", "\n"};
        text.insert(at, words[below(words.size())]);
        break;
      }
      default:  // halves of two files
        text = text.substr(0, at) + piece(any(), 4096);
    }
  }
  std::string piece(const std::string& of, std::size_t length) {
    return of.substr(below(of.size() + 1), length);
  }

  const std::vector<std::string>& corpus_;
  std::mt19937_64 dice_{1};
};

// The current input, written to a file by a crash.
const std::string* current = nullptr;

void leave_input(int signal) {
  if (std::FILE* file = current ? std::fopen("fuzz_crash_input", "wb") : nullptr) {
    std::fwrite(current->data(), 1, current->size(), file);
    std::fclose(file);
    std::fputs("the input lies in fuzz_crash_input\n", stderr);
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// With a memory limit, a length that is not validated shows as a failed allocation. Sanitizers reserve the
// whole address space, so there is no limit under them.
void limit_memory() {
  const rlimit most{rlim_t{4} << 30, rlim_t{4} << 30};
  if (!zwang::sanitized) ::setrlimit(RLIMIT_AS, &most);
}

void run(const std::string& text) {
  current = &text;
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s SECONDS FOLDER...\n", argv[0]);
    return 1;
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(std::atof(argv[1]));
  const std::vector<std::string> corpus = files_in({argv + 2, argv + argc});
  if (corpus.empty()) {
    std::fprintf(stderr, "no files in the folders given\n");
    return 1;
  }
  limit_memory();
  for (const int signal : {SIGABRT, SIGSEGV, SIGFPE}) std::signal(signal, leave_input);
  for (const std::string& text : corpus) run(text);
  Mutator mutator(corpus);
  long long executions = static_cast<long long>(corpus.size());
  for (; std::chrono::steady_clock::now() < end; ++executions) run(mutator.next());
  std::printf("%lld executions, nothing found\n", executions);
  return 0;
}
