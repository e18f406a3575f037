// Members that reach the end have a row at every output time. On a GPU in single precision the first output after
// an accumulation was once lost: the next output time was overwritten with an older one after an event.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "host/backend/backend.h"
#include "host/backend/cuda/library.h"
#include "host/run/backend_factory.h"
#include "host/study_file/load_study.h"
#include "tests/support/batch_runs.h"

namespace zwang::outputs_test {
namespace {

class Outputs : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "cuda" && !cuda::why_no_device().empty()) GTEST_SKIP() << cuda::why_no_device();
  }
};

TEST_P(Outputs, AreAllWrittenInBothPrecisions) {
  for (const char* name : {"gate_stops", "shaken_table", "bouncing_ball", "string_pendulum"})
    for (const char* precision : {"single", "double"}) {
      SCOPED_TRACE(std::string(name) + ", " + precision);
      const Study study = load_study(std::string(ZWANG_SOURCE_DIR) + "/configs/" + name + ".toml",
                                     {std::string("integrator.precision=\"") + precision + "\""});
      const std::size_t members = 300;
      const auto backend = make_backend(GetParam(), study, {.threads = 2});
      const BatchResults results = run_members(study, *backend, members);
      const std::size_t row = results.observables.size() / members;
      ASSERT_GT(row, 0U);
      std::size_t complete = 0;
      for (std::size_t m = 0; m < members; ++m) {
        if (results.status[m] != Status::ok) continue;
        ++complete;
        for (std::size_t i = 0; i < row; ++i)
          ASSERT_FALSE(std::isnan(results.observables[m * row + i])) << "member " << m << ", number " << i;
      }
      EXPECT_GT(complete, members / 2);
    }
}

INSTANTIATE_TEST_SUITE_P(Cpu, Outputs, testing::Values("cpu"),
                         [](const auto&) { return std::string("cpu"); });
INSTANTIATE_TEST_SUITE_P(Gpu, Outputs, testing::Values("cuda"),
                         [](const auto&) { return std::string("cuda"); });

}  // namespace
}  // namespace zwang::outputs_test
