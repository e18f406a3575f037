// Distributions evaluated with the numbers of one member.
#include "host/sample/distribution.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "host/sample/quantile.h"
#include "src/base/error.h"

namespace zwang {

using Kind = Distribution::Kind;

namespace {

ArgumentCheck check_finite_arguments(Kind kind, std::span<const double> x) {
  switch (kind) {
    case Kind::uniform:
      return {"finite a <= b", x[0] <= x[1] && std::isfinite(x[1] - x[0])};
    case Kind::normal:
    case Kind::lognormal:
      return {"finite mean and std, std >= 0", x[1] >= 0};
    case Kind::triangular:
      return {"finite a <= m <= b", x[0] <= x[1] && x[1] <= x[2] && std::isfinite(x[2] - x[0])};
    case Kind::exponential:
      return {"finite mean > 0", x[0] > 0};
    case Kind::grid:  // a > b is allowed
      return {"finite a and b", std::isfinite(x[1] - x[0])};
    case Kind::choice:
    case Kind::file:
      break;
  }
  return {"finite numbers", true};
}

}  // namespace

std::string distribution_text(const Distribution& distribution, std::span<const double> x) {
  std::string list;
  for (const double value : x) list += (list.empty() ? "" : ", ") + number_text(value);
  const auto moments = [&] {
    return " = { mean = " + number_text(x[0]) + ", std = " + number_text(x[1]) + " }";
  };
  switch (distribution.kind) {
    case Kind::uniform:
      return "uniform = [" + list + "]";
    case Kind::normal:
      return "normal" + moments();
    case Kind::lognormal:
      return "lognormal" + moments();
    case Kind::triangular:
      return "triangular = [" + list + "]";
    case Kind::exponential:
      return "exponential = { mean = " + list + " }";
    case Kind::choice:
      return "choice = [" + list + "]";
    case Kind::grid:
      return "grid = [" + list + ", " + std::to_string(distribution.grid_points) + "]";
    case Kind::file:
      break;
  }
  return "file";
}

ArgumentCheck check_arguments_of(Kind kind, std::span<const double> x) {
  ArgumentCheck made = check_finite_arguments(kind, x);
  for (const double value : x) made.ok = made.ok && std::isfinite(value);
  return made;
}

double at_quantile(Kind kind, std::span<const double> x, double u) {
  switch (kind) {
    case Kind::uniform:
      return uniform_quantile(x[0], x[1], u);
    case Kind::normal:
      return x[0] + x[1] * normal_quantile(u);
    case Kind::lognormal:
      return std::exp(x[0] + x[1] * normal_quantile(u));
    case Kind::triangular:
      return triangular_quantile(x[0], x[1], x[2], u);
    case Kind::exponential:
      return exponential_quantile(x[0], u);
    default: {
      assert(kind == Kind::choice);
      const auto count = static_cast<double>(x.size());
      const auto entry = static_cast<std::size_t>(u * count);
      return x[std::min(entry, x.size() - 1)];
    }
  }
}

// The centre: the number a distribution is specified by, if it has one (mean of a normal, mode of a
// triangular, mean of an exponential), the middle of a range, the first entry of a choice. For a lognormal
// the median exp(mean): its mean grows with std, and a larger spread must not move the nominal member.
double at_centre(Kind kind, std::span<const double> x) {
  switch (kind) {
    case Kind::uniform:
    case Kind::grid:
      return std::midpoint(x[0], x[1]);
    case Kind::lognormal:
      return std::exp(x[0]);
    case Kind::triangular:
      return x[1];
    default:  // normal, exponential, choice
      return x[0];
  }
}

double grid_value(double a, double b, long long index, long long points) {
  if (points == 1) return std::midpoint(a, b);
  if (index == points - 1) return b;
  return a + (b - a) * static_cast<double>(index) / static_cast<double>(points - 1);
}

bool takes_uniform(Kind kind) { return kind != Kind::grid && kind != Kind::file; }

}  // namespace zwang
