#include "host/backend/cuda/compiler.h"

#include <fmt/format.h>

#include <algorithm>

#include "host/backend/cuda/library.h"
#include "host/platform/machine_error.h"
#include "host/platform/private_files.h"

namespace zwang {

namespace {

// The first version that knows --Ofast-compile; earlier ones compile without it, only more slowly.
constexpr int first_with_fast_compile = 13;

// The options of the program's first unit. `kind`: "sm" for a binary of exactly this architecture, "compute"
// for PTX that later ones accept too.
std::vector<std::string> options_for(const ProgramText& program, const char* kind, int architecture,
                                     int version) {
  const std::string& unit = program.units.at(0);
  std::vector<std::string> options{fmt::format("--gpu-architecture={}_{}", kind, architecture)};
  options.insert(options.end(), program.flags.begin(), program.flags.end());
  if (program.linked_units.count(unit) > 0) options.emplace_back("--relocatable-device-code=true");
  if (const auto own = program.unit_flags.find(unit); own != program.unit_flags.end())
    options.insert(options.end(), own->second.begin(), own->second.end());
  if (version < first_with_fast_compile)
    std::erase_if(options, [](const std::string& option) { return option.starts_with("--Ofast-compile"); });
  return options;
}

// Owns an NVRTC program object.
class Compilation {
 public:
  Compilation(const ProgramText& program, const std::string& unit) : nvrtc_(cuda::Nvrtc::get()) {
    std::vector<const char*> names, texts;
    for (const auto& [name, text] : program.sources) {
      names.push_back(name.c_str());
      texts.push_back(text.c_str());
    }
    const std::string& text = program.sources.at(unit);
    require(nvrtc_.create(&program_, text.c_str(), unit.c_str(), static_cast<int>(names.size()), texts.data(),
                          names.data()));
  }
  ~Compilation() {
    if (program_) nvrtc_.destroy(&program_);
  }
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;

  void compile(const std::vector<std::string>& options) {
    std::vector<const char*> values;
    for (const std::string& option : options) values.push_back(option.c_str());
    const cuda::Result result = nvrtc_.compile(program_, static_cast<int>(values.size()), values.data());
    if (result != 0) refuse(result);
  }

  std::string cubin() const {
    std::size_t bytes = 0;
    require(nvrtc_.cubin_size(program_, &bytes));
    std::string cubin(bytes, '\0');
    require(nvrtc_.cubin(program_, cubin.data()));
    return cubin;
  }

  std::string ptx() const {
    std::size_t bytes = 0;  // including the terminating zero
    require(nvrtc_.ptx_size(program_, &bytes));
    std::string text(bytes, '\0');
    require(nvrtc_.ptx(program_, text.data()));
    text.resize(text.find('\0'));
    return text;
  }

  std::string log() const {
    std::size_t bytes = 0;
    if (nvrtc_.log_size(program_, &bytes) != 0 || bytes <= 1) return "";
    std::string text(bytes, '\0');
    nvrtc_.log(program_, text.data());
    text.resize(bytes - 1);
    return text;
  }

 private:
  void require(cuda::Result result) const {
    if (result == 0) return;
    throw MachineError(
        {.message = "NVRTC failed", .found = nvrtc_.error_text(result), .expected = "success", .hint = {}});
  }

  [[noreturn]] void refuse(cuda::Result result) const {
    std::string text = log();
    constexpr std::size_t most = 2000;
    if (text.size() > most) text = text.substr(0, most) + " ...";
    throw MachineError({.message = "NVRTC could not compile the kernels",
                        .found = text.empty() ? nvrtc_.error_text(result) : text,
                        .expected = "a program for the GPU",
                        .hint = "`--backend cpu` runs the same kernels without a GPU"});
  }

  const cuda::Nvrtc& nvrtc_;
  cuda::Program program_ = nullptr;
};

// An NVRTC version supports neither very old architectures nor those newer than itself.
void require_known(int architecture, const std::string& compiler) {
  const cuda::Nvrtc& nvrtc = cuda::Nvrtc::get();
  int count = 0;
  if (nvrtc.architectures_count(&count) != 0 || count < 1) return;
  std::vector<int> known(static_cast<std::size_t>(count));
  if (nvrtc.architectures(known.data()) != 0) return;
  if (std::find(known.begin(), known.end(), architecture) != known.end()) return;
  const auto text = [](int number) { return fmt::format("{}.{}", number / 10, number % 10); };
  throw MachineError(
      {.message = compiler + " does not support this GPU",
       .found = "compute capability " + text(architecture),
       .expected = fmt::format("a compute capability from {} to {}", text(known.front()), text(known.back())),
       .hint = fmt::format("{} CUDA toolkit may support it; `--backend cpu` runs the same kernels "
                           "without a GPU",
                           architecture < known.front() ? "an older" : "a newer")});
}

}  // namespace

CudaCompiler::CudaCompiler(int architecture) : architecture_(architecture) {
  cuda::Nvrtc::get().version(&major_, &minor_);
  require_known(architecture, fmt::format("NVRTC {}.{}", major_, minor_));
}

std::string CudaCompiler::key(const ProgramText& program) const {
  std::string key = fmt::format("NVRTC {}.{}\n", major_, minor_);
  for (const std::string& option : options_for(program, "sm", architecture_, major_)) key += option + "\n";
  for (const auto& [name, text] : program.sources)
    key += fmt::format("{} {}\n", name, text.size()) + text + "\n";
  for (const std::string& unit : program.units) key += "unit " + unit + "\n";
  return key;
}

std::string CudaCompiler::compile(const ProgramText& program, const std::filesystem::path& target) const {
  Compilation compilation(program, program.units.at(0));
  compilation.compile(options_for(program, "sm", architecture_, major_));
  const int code = write_new(target, compilation.cubin(), 0700, false);
  if (code != 0)
    throw MachineError({.where = {.file = target.string()},
                        .message = "could not write the compiled program",
                        .found = system_message(code),
                        .expected = "a folder with room",
                        .hint = {}});
  return compilation.log();
}

std::string CudaCompiler::ptx(const ProgramText& program) const {
  Compilation compilation(program, program.units.at(0));
  compilation.compile(options_for(program, "compute", architecture_, major_));
  return compilation.ptx();
}

}  // namespace zwang
