// The impact oscillator of gpu_impact.toml with the method of Cash and Karp, which GPU solvers for ensembles
// of small systems use, and hand-coded impacts: measures the true error at a given tolerance. Reads
// amplitudes A from standard input, one per line, and writes x and x' at t = 100. Impacts are located to
// rounding, so that only the method's own error counts. bench/results/accuracy.csv compares it with zwang.
//
// J. R. Cash, A. H. Karp: A variable order Runge-Kutta method for initial value problems with rapidly varying
// right-hand sides, ACM Trans. Math. Softw. 16 (1990).
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace {

using State = std::array<double, 2>;  // x, x'

constexpr int stages = 6;
constexpr double nodes[stages] = {0, 1.0 / 5, 3.0 / 10, 3.0 / 5, 1, 7.0 / 8};
constexpr double weights[stages][stages] = {
    {},
    {1.0 / 5},
    {3.0 / 40, 9.0 / 40},
    {3.0 / 10, -9.0 / 10, 6.0 / 5},
    {-11.0 / 54, 5.0 / 2, -70.0 / 27, 35.0 / 27},
    {1631.0 / 55296, 175.0 / 512, 575.0 / 13824, 44275.0 / 110592, 253.0 / 4096}};
constexpr double fifth[stages] = {37.0 / 378, 0, 250.0 / 621, 125.0 / 594, 0, 512.0 / 1771};
constexpr double fourth[stages] = {2825.0 / 27648, 0,      18575.0 / 48384, 13525.0 / 55296,
                                   277.0 / 14336,  1.0 / 4};

State rate(double t, const State& y, double amplitude) {
  return {y[1], -y[0] - 2 * 0.02 * y[1] + amplitude * std::cos(0.9 * t)};
}

struct Step {
  State end, error;
};
Step take(double t, const State& y, double h, double amplitude) {
  State k[stages];
  for (int i = 0; i < stages; ++i) {
    State there = y;
    for (int j = 0; j < i; ++j)
      for (std::size_t c = 0; c < 2; ++c) there[c] += h * weights[i][j] * k[j][c];
    k[i] = rate(t + nodes[i] * h, there, amplitude);
  }
  Step made{y, {}};
  for (int i = 0; i < stages; ++i)
    for (std::size_t c = 0; c < 2; ++c) {
      made.end[c] += h * fifth[i] * k[i][c];
      made.error[c] += h * (fifth[i] - fourth[i]) * k[i][c];
    }
  return made;
}

// The length of the step from y that ends at the wall: Newton inside a bracket.
double time_to_wall(double t, const State& y, double h, State end, double amplitude) {
  double below = 0, above = h, length = h;
  for (int i = 0; i < 100; ++i) {
    (end[0] > 1 ? above : below) = length;
    double next = length - (end[0] - 1) / end[1];
    if (!(next > below && next < above)) next = 0.5 * (below + above);
    if (std::abs(next - length) <= 1e-16 * (1 + t)) break;
    length = next;
    end = take(t, y, length, amplitude).end;
  }
  return length;
}

struct Counts {
  double steps = 0, rejected = 0, impacts = 0;
};

State run(double amplitude, double tolerance, Counts& counts) {
  constexpr double last = 100, wall = 1, restitution = 0.8;
  double t = 0, h = 0.01;
  State y{0, 0.5};
  while (t < last) {
    const double length = std::min(h, last - t);
    const Step step = take(t, y, length, amplitude);
    double room = 1e9;  // tolerance over error
    for (std::size_t c = 0; c < 2; ++c)
      room = std::min(
          room, tolerance * std::max(1.0, std::abs(step.end[c])) / std::max(std::abs(step.error[c]), 1e-300));
    if (room < 1) {
      h = length * std::max(0.1, 0.9 * std::pow(room, 0.25));
      ++counts.rejected;
      continue;
    }
    h = length * std::min(5.0, 0.9 * std::pow(room, 0.2));
    ++counts.steps;
    if (step.end[0] > wall) {
      const double part = time_to_wall(t, y, length, step.end, amplitude);
      y = {wall, -restitution * take(t, y, part, amplitude).end[1]};
      t += part;
      ++counts.impacts;
    } else {
      y = step.end;
      t += length;
    }
  }
  return y;
}

}  // namespace

int main(int count, char** words) {
  if (count != 2 || !(std::atof(words[1]) > 0)) {
    std::fprintf(stderr, "usage: cash_karp TOLERANCE < amplitudes\n");
    return 2;
  }
  Counts counts;
  double amplitude = 0, members = 0;
  while (std::scanf("%lf", &amplitude) == 1) {
    const State end = run(amplitude, std::atof(words[1]), counts);
    std::printf("%.17g %.17g\n", end[0], end[1]);
    ++members;
  }
  std::fprintf(stderr, "%.1f steps, %.1f rejected, %.1f impacts a member\n", counts.steps / members,
               counts.rejected / members, counts.impacts / members);
  return 0;
}
