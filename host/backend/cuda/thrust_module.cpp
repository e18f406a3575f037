// Loading of the library of thrust_module.cu.
#include "host/backend/cuda/thrust_module.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <vector>

#include "host/platform/stage_times.h"

namespace zwang {

namespace {

namespace fs = std::filesystem;

constexpr const char* thrust_library = "libzwang_thrust.so";
using RankColumn = int(int device, const double* values, unsigned long long rows, unsigned* ranks,
                       unsigned long long* present);

RankColumn* find_rank_column() {
  std::vector<fs::path> places;
  const char* wanted = std::getenv("ZWANG_THRUST");
  if (wanted != nullptr && std::string(wanted) == "off") return nullptr;
  if (wanted != nullptr && *wanted != '\0') {
    places = {fs::absolute(wanted)};
  } else {
    std::error_code failed;
    const fs::path program = fs::read_symlink("/proc/self/exe", failed).parent_path();
    places = {program / thrust_library, program / ".." / ZWANG_LIBRARY_FOLDER / thrust_library};
  }
  for (const fs::path& place : places) {
    std::error_code failed;
    if (!fs::exists(place, failed)) continue;
    void* library = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* entry = library != nullptr ? ::dlsym(library, "zwang_rank_column") : nullptr;
    if (entry != nullptr) return reinterpret_cast<RankColumn*>(entry);
  }
  return nullptr;
}

}  // namespace

ColumnRanker thrust_ranker(int device) {
  static RankColumn* const rank_column = find_rank_column();
  if (rank_column == nullptr) return {};
  // One column at a time: a sort takes four times the memory of its column.
  const auto one_at_a_time = std::make_shared<std::mutex>();
  return [device, one_at_a_time](std::span<const double> values,
                                 std::span<std::uint32_t> ranks) -> std::optional<std::size_t> {
    if (values.size() < long_column) return std::nullopt;
    const std::scoped_lock lock(*one_at_a_time);
    const StageTimer timer("finish statistics: ranks on the device");
    unsigned long long present = 0;
    if (rank_column(device, values.data(), values.size(), ranks.data(), &present) != 0) return std::nullopt;
    return static_cast<std::size_t>(present);
  };
}

}  // namespace zwang
