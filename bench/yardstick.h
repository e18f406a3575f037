// Yardsticks: what a careful engineer's hand-written program reaches on one core, for a few systems it is
// written for. Zwang knows the systems only as studies (bench/*.toml); how near does it come?
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace zwang::yardstick {

enum class Problem { string, string_plain, double_pendulum, chain10, chain10_tensions };
enum class Method { dp5, dp8 };

// Every yardstick is tuned to this error and no better.
inline constexpr double wanted_error = 1e-8;

struct Yardstick {
  std::string name;           // of the system; the study is bench/<name>.toml (one for both of a kind)
  double error;               // largest true error of an end position or velocity over a sample of members
  double members_per_second;  // one core, best of several repetitions
  std::string method;         // dp5 or dp8
  double tolerance;           // the loosest that keeps the error
  double steps_per_member;    // tried, accepted or not
};

// The gravity of member k, within 1 % of 9.81: members differ, so that no branch predictor learns one path.
double gravity_of_member(std::uint64_t member);

// Where a member is at the end: x, y of every point, then x', y'. The true one is integrated in long double,
// with a tolerance far below the wanted error.
std::vector<double> end_state(Problem problem, Method method, double tolerance, double gravity);
std::vector<double> true_end_state(Problem problem, double gravity);

// Finds the loosest tolerance, then runs members for at least `seconds`.
Yardstick measure(Problem problem, Method method, double seconds);

// Both methods; the first is the faster one, which is the yardstick.
std::vector<Yardstick> measure_both(Problem problem, double seconds);

}  // namespace zwang::yardstick
