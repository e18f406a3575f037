// Driver of the fuzz targets without libFuzzer, for ctest and machines without clang: runs each file of the
// corpus, then random mutations of them with a fixed seed until the time is over.
//
//   fuzz_study_plain SECONDS FOLDER...
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/crash_input.h"
#include "tests/support/sanitized.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

struct CorpusFile {
  std::string name, text;
};

std::vector<CorpusFile> files_in(const std::vector<std::string>& folders) {
  std::vector<std::filesystem::path> paths;
  for (const std::string& folder : folders)
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.is_regular_file()) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<CorpusFile> files;
  for (const auto& path : paths) {
    std::ifstream stream(path, std::ios::binary);
    files.push_back(
        {path.string(), {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()}});
  }
  return files;
}

class Mutator {
 public:
  explicit Mutator(const std::vector<CorpusFile>& corpus) : corpus_(corpus) {}

  std::string next() {
    std::string text = any();
    for (std::size_t turns = 1 + below(4); turns > 0; --turns) change(text);
    return text;
  }

 private:
  std::size_t below(std::size_t count) { return count == 0 ? 0 : dice_() % count; }
  const std::string& any() { return corpus_[below(corpus_.size())].text; }

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

  const std::vector<CorpusFile>& corpus_;
  std::mt19937_64 dice_{1};
};

// With a memory limit, a length that is not validated shows as a failed allocation. Sanitizers reserve the
// whole address space, so there is no limit under them.
void limit_memory() {
  const rlimit most{rlim_t{4} << 30, rlim_t{4} << 30};
  if (!zwang::sanitized) ::setrlimit(RLIMIT_AS, &most);
}

void run(const std::string& text, const std::string& name) {
  zwang::fuzz::begin_input(text, name);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s SECONDS FOLDER...\n", argv[0]);
    return 1;
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(std::atof(argv[1]));
  const std::vector<CorpusFile> corpus = files_in({argv + 2, argv + argc});
  if (corpus.empty()) {
    std::fprintf(stderr, "no files in the folders given\n");
    return 1;
  }
  limit_memory();
  zwang::fuzz::leave_inputs_of_crashes();
  for (const CorpusFile& file : corpus) run(file.text, file.name);
  Mutator mutator(corpus);
  long long mutations = 0;
  while (std::chrono::steady_clock::now() < end) {
    ++mutations;
    run(mutator.next(), "mutation " + std::to_string(mutations));
  }
  std::printf("%lld executions, nothing found\n", static_cast<long long>(corpus.size()) + mutations);
  return 0;
}
