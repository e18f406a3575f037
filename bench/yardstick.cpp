// Tunes each hand-written program to the wanted error and measures its speed.
#include "bench/yardstick.h"

#include <ctime>
#include <stdexcept>

#include "bench/yardstick_chain.h"
#include "bench/yardstick_string.h"

namespace zwang::yardstick {

namespace {

constexpr int sampled_members = 64;
constexpr int repetitions = 5;
constexpr int batch = 64;  // members between two readings of the clock

// Calls work.template operator()<System>() with the system of a problem.
template <class Work>
auto with_system(Problem problem, Work&& work) {
  switch (problem) {
    case Problem::string:
      return work.template operator()<StringSystem>();
    case Problem::string_plain:
      return work.template operator()<StringIntegrated>();
    case Problem::double_pendulum:
      return work.template operator()<DoublePendulum>();
    case Problem::chain10:
      return work.template operator()<ChainByMassMatrix>();
    case Problem::chain10_tensions:
      return work.template operator()<ChainByTensions>();
  }
  throw std::logic_error("no such yardstick");
}

template <class Work>
auto with_method(Method method, Work&& work) {
  return method == Method::dp5 ? work.template operator()<DormandPrince5>()
                               : work.template operator()<Dop853>();
}

// The step size the controller chooses near the start. One value serves all members: they differ by 1 % in
// gravity.
template <template <class> class System, class Step, class Real>
Controls<Real> controls_for(Real tolerance) {
  Controls<Real> controls{Real(1e-3), tolerance};
  for (int i = 0; i < 4; ++i) {
    const Real proposed = System<Real>{Real(9.81)}.template run<Step>(controls).first_step;
    controls.first_step = Real(0.9) * proposed;
  }
  return controls;
}

template <class State>
double largest_difference(const State& state, const std::vector<double>& truth) {
  double largest = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) largest = std::max(largest, std::abs(state[i] - truth[i]));
  return largest;
}

struct Trial {
  double error;             // the largest over the sample
  double steps_per_member;  // mean
};

template <template <class> class System, class Step>
Trial try_tolerance(double tolerance, const std::vector<std::vector<double>>& truth) {
  const Controls<double> controls = controls_for<System, Step>(tolerance);
  Trial trial{0, 0};
  for (std::size_t k = 0; k < truth.size(); ++k) {
    const auto outcome = System<double>{gravity_of_member(k)}.template run<Step>(controls);
    trial.error = std::max(trial.error, largest_difference(outcome.state, truth[k]));
    trial.steps_per_member += outcome.steps / static_cast<double>(truth.size());
  }
  return trial;
}

// The tolerance with the fewest steps that keeps the wanted error for every member of the sample. The error
// is not a monotone function of the tolerance, so all tolerances of a grid are tried.
template <template <class> class System, class Step>
Yardstick tune(const std::vector<std::vector<double>>& truth) {
  constexpr int per_decade = 8, tightest = -12, loosest = -5;
  Yardstick best{System<double>::name, 0, 0, Step::name, 0, 1e300};
  for (int i = tightest * per_decade; i <= loosest * per_decade; ++i) {
    const double tolerance = std::pow(10.0, static_cast<double>(i) / per_decade);
    const Trial trial = try_tolerance<System, Step>(tolerance, truth);
    if (!(trial.error <= wanted_error) || trial.steps_per_member > best.steps_per_member) continue;
    best.tolerance = tolerance;
    best.error = trial.error;
    best.steps_per_member = trial.steps_per_member;
  }
  if (best.tolerance == 0) throw std::runtime_error(best.name + ": no tolerance reaches the wanted error");
  return best;
}

// Members per second of processor time, so that other work on the machine does not reduce the result. The sum
// keeps the compiler from removing the computation.
template <template <class> class System, class Step>
double members_per_second(const Controls<double>& controls, double seconds) {
  std::uint64_t members = 0;
  double best = 0;
  volatile double sink = 0;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    const std::uint64_t first = members;
    double elapsed = 0, sum = 0;
    for (const std::clock_t begin = std::clock(); elapsed < seconds / repetitions;) {
      for (int k = 0; k < batch; ++k)
        sum += System<double>{gravity_of_member(members++)}.template run<Step>(controls).state[0];
      elapsed = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    }
    sink = sink + sum;
    best = std::max(best, static_cast<double>(members - first) / elapsed);
  }
  return best;
}

std::vector<std::vector<double>> true_sample(Problem problem) {
  std::vector<std::vector<double>> truth;
  for (std::uint64_t k = 0; k < sampled_members; ++k)
    truth.push_back(true_end_state(problem, gravity_of_member(k)));
  return truth;
}

Yardstick measure(Problem problem, Method method, double seconds,
                  const std::vector<std::vector<double>>& truth) {
  return with_system(problem, [&]<template <class> class System>() {
    return with_method(method, [&]<class Step>() {
      Yardstick yardstick = tune<System, Step>(truth);
      const Controls<double> controls = controls_for<System, Step>(yardstick.tolerance);
      yardstick.members_per_second = members_per_second<System, Step>(controls, seconds);
      return yardstick;
    });
  });
}

}  // namespace

double gravity_of_member(std::uint64_t member) {
  // splitmix64 (G. L. Steele, D. Lea, C. H. Flood, OOPSLA 2014).
  std::uint64_t z = (member + 1) * 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  z ^= z >> 31U;
  const double uniform = static_cast<double>(z >> 11U) * 0x1p-53;
  return 9.81 * (0.99 + 0.02 * uniform);
}

std::vector<double> end_state(Problem problem, Method method, double tolerance, double gravity) {
  return with_system(problem, [&]<template <class> class System>() {
    return with_method(method, [&]<class Step>() {
      const auto outcome = System<double>{gravity}.template run<Step>(controls_for<System, Step>(tolerance));
      return std::vector<double>(outcome.state.begin(), outcome.state.end());
    });
  });
}

std::vector<double> true_end_state(Problem problem, double gravity) {
  // The reference for each chain is the other chain's formulation, and the same holds for the strings.
  if (problem == Problem::string)
    problem = Problem::string_plain;
  else if (problem == Problem::string_plain)
    problem = Problem::string;
  else if (problem == Problem::chain10)
    problem = Problem::chain10_tensions;
  else if (problem == Problem::chain10_tensions)
    problem = Problem::chain10;
  return with_system(problem, [&]<template <class> class System>() {
    const Controls<long double> controls{1e-3L, 1e-13L};
    const auto outcome = System<long double>{gravity}.template run<Dop853>(controls);
    return std::vector<double>(outcome.state.begin(), outcome.state.end());
  });
}

Yardstick measure(Problem problem, Method method, double seconds) {
  return measure(problem, method, seconds, true_sample(problem));
}

std::vector<Yardstick> measure_both(Problem problem, double seconds) {
  const auto truth = true_sample(problem);
  std::vector<Yardstick> both{measure(problem, Method::dp5, seconds, truth),
                              measure(problem, Method::dp8, seconds, truth)};
  if (both[0].members_per_second < both[1].members_per_second) std::swap(both[0], both[1]);
  return both;
}

}  // namespace zwang::yardstick
