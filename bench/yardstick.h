// Hand-written reference programs ("yardsticks") for a few systems, as a careful engineer would write them
// for one core. Zwang is compared with them on the same systems, given as studies (bench/*.toml).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace zwang::yardstick {

enum class Problem { string, string_plain, double_pendulum, chain10, chain10_tensions };
enum class Method { dp5, dp8 };

// Every program is tuned to this true error at the end.
inline constexpr double wanted_error = 1e-8;

struct Yardstick {
  std::string name;           // as printed; bench/record.py knows the study of each
  double error;               // largest true error of an end position or velocity over a sample of members
  double members_per_second;  // one core, best of several repetitions
  std::string method;         // dp5 or dp8
  double tolerance;           // with the fewest steps that keeps the error
  double steps_per_member;    // trial steps, accepted or rejected
};

// The gravity of member k, within 1 % of 9.81: members differ, so that branch prediction cannot learn one
// path.
double gravity_of_member(std::uint64_t member);

// Final state of a member: x, y of every point, then x', y'. The true one is integrated in long double with a
// tolerance far below the wanted error.
std::vector<double> end_state(Problem problem, Method method, double tolerance, double gravity);
std::vector<double> true_end_state(Problem problem, double gravity);

// Finds the tolerance with the fewest steps for the wanted error, then runs members for at least `seconds`.
Yardstick measure(Problem problem, Method method, double seconds);

// Both methods, the faster one first.
std::vector<Yardstick> measure_both(Problem problem, double seconds);

}  // namespace zwang::yardstick
