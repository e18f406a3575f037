#include "src/emit/emit.h"

#include "src/emit/model_writer.h"
#include "src/emit/rewrite.h"

namespace zwang {

EmittedModel emit_model(const System& system, Elimination elimination, std::size_t long_from) {
  const System ready = rearranged(system);
  return ModelWriter(ready, elimination, long_from).write();
}

}  // namespace zwang
