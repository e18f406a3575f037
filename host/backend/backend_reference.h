// Reference backend: the slow implementation in src/, independent of the kernels, on a given number of
// threads.
#pragma once

#include "host/backend/backend.h"
#include "host/study/study.h"
#include "src/base/settings.h"
#include "src/reference/reference.h"
#include "src/system/system.h"

namespace zwang {

class BackendReference : public Backend {
 public:
  BackendReference(const Study& study, unsigned threads);

  std::string name() const override { return "reference"; }
  std::string device() const override;
  unsigned threads() const override { return threads_; }
  BatchResults run(const Batch& batch, const Wanted& wanted) override;

 private:
  std::shared_ptr<const System> system_;
  IntegratorSettings settings_;
  Plan plan_;
  unsigned threads_;
};

}  // namespace zwang
