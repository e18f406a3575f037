// A die thrown on a table: it comes to rest on a face, and by symmetry every face is as likely as the others.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "host/backend/batch.h"
#include "host/run/backend_factory.h"
#include "host/run/run.h"
#include "host/study_file/load_study.h"
#include "kernels/base/status.h"

namespace zwang::tumbling_die_test {
namespace {

TEST(TumblingDie, ComesToRestOnAFaceAndPrefersNone) {
  const Study study = load_study(std::string(ZWANG_SOURCE_DIR) + "/examples/tumbling_die.toml");
  const std::size_t members = 120, values_each = study.system->member_values();
  std::vector<unsigned long long> numbers;
  for (unsigned long long k = 0; k < members; ++k) numbers.push_back(k);
  const auto backend = make_backend("cpu", study, {.threads = 2});
  const BatchResults results = backend->run(prepare_batch(study, numbers, 2), {});
  std::size_t at_rest = 0, on_side = 0;
  for (std::size_t k = 0; k < members; ++k) {
    // Slips that begin and slips that pass close to zero took up to 16 000 steps and 9000 rejected ones.
    EXPECT_LE(results.steps[k], 1000) << k;
    if (results.status[k] != Status::ok) continue;
    // six, one, side: exactly one of them
    const double* values = &results.measures[k * values_each];
    EXPECT_EQ(values[0] + values[1] + values[2], 1) << k;
    on_side += values[2] == 1 ? 1 : 0;
    ++at_rest;
  }
  // Rare members end otherwise: several motions at an impact of four corners.
  EXPECT_GE(at_rest, members - 2);
  const double expected = 2.0 / 3 * static_cast<double>(at_rest);
  EXPECT_NEAR(static_cast<double>(on_side), expected, 4 * std::sqrt(expected / 3));
}

}  // namespace
}  // namespace zwang::tumbling_die_test
