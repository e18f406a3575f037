#include "host/backend/cuda/compilations.h"

#include <utility>

#include "host/backend/cuda/compiler.h"
#include "host/platform/private_files.h"
#include "host/program/program_cache.h"

namespace zwang {

CudaCompilations::CudaCompilations(const ProgramText& program, int architecture,
                                   const std::filesystem::path& folder) {
  for (const std::string& name : program.units) {
    ProgramText one = program;
    one.units = {name};
    units_.push_back(std::async(std::launch::async, [one = std::move(one), architecture, folder] {
      const CudaCompiler compiler(architecture);
      ProgramCache cache(folder);
      Unit unit;
      unit.linked = one.linked_units.count(one.units[0]) > 0;
      const auto place = cache.get(
          compiler.key(one), [&](const std::filesystem::path& target) { compiler.compile(one, target); },
          &unit.compiled);
      unit.binary = read_whole(place).value_or("");
      unit.note = cache.note();
      return unit;
    }));
  }
}

CudaCompilations::Made CudaCompilations::wait() {
  Made made;
  for (std::future<Unit>& future : units_) {
    Unit unit = future.get();
    (unit.linked ? made.binaries.objects : made.binaries.modules).push_back(std::move(unit.binary));
    made.compiled = made.compiled || unit.compiled;
    if (!unit.note.empty()) made.note = unit.note;
  }
  return made;
}

}  // namespace zwang
