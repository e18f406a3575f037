// Prints the speed of the hand-written programs on one core of this machine.
//
//   yardsticks [--seconds S] [--json] [--member K]
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "bench/yardstick.h"

namespace {

using namespace zwang::yardstick;

constexpr Problem problems[] = {Problem::string, Problem::string_plain, Problem::double_pendulum,
                                Problem::chain10, Problem::chain10_tensions};
constexpr const char* names[] = {"string", "string_plain", "double_pendulum", "chain10", "chain10_tensions"};

void print_table(double seconds) {
  std::printf("%-17s %-6s %14s %9s %9s %8s\n", "system", "method", "members/s", "error", "tolerance",
              "steps");
  for (const Problem problem : problems)
    for (const Yardstick& y : measure_both(problem, seconds))
      std::printf("%-17s %-6s %14.0f %9.1e %9.1e %8.1f\n", y.name.c_str(), y.method.c_str(),
                  y.members_per_second, y.error, y.tolerance, y.steps_per_member);
}

void print_json(double seconds) {
  const char* separator = "[";
  for (const Problem problem : problems)
    for (const Yardstick& y : measure_both(problem, seconds)) {
      std::printf("%s\n  {\"name\": \"%s\", \"method\": \"%s\", \"members_per_second\": %.17g, ", separator,
                  y.name.c_str(), y.method.c_str(), y.members_per_second);
      std::printf("\"error\": %.17g, \"tolerance\": %.17g, \"steps_per_member\": %.17g}", y.error,
                  y.tolerance, y.steps_per_member);
      separator = ",";
    }
  std::printf("\n]\n");
}

// The true final state of one member, to compare with `zwang replay bench/<name>.toml --set
// parameters.g=...`.
void print_member(std::uint64_t member) {
  const double gravity = gravity_of_member(member);
  std::printf("{\"member\": %llu, \"g\": %.17g", static_cast<unsigned long long>(member), gravity);
  for (std::size_t i = 0; i < std::size(problems); ++i) {
    std::printf(",\n \"%s\": ", names[i]);
    const char* separator = "[";
    for (const double value : true_end_state(problems[i], gravity)) {
      std::printf("%s%.17g", separator, value);
      separator = ", ";
    }
    std::printf("]");
  }
  std::printf("}\n");
}

}  // namespace

int main(int count, char** arguments) {
  double seconds = 1;
  bool json = false;
  for (int i = 1; i < count && seconds > 0; ++i) {
    const bool has_value = i + 1 < count;
    if (std::strcmp(arguments[i], "--json") == 0) {
      json = true;
    } else if (std::strcmp(arguments[i], "--seconds") == 0 && has_value) {
      seconds = std::strtod(arguments[++i], nullptr);
    } else if (std::strcmp(arguments[i], "--member") == 0 && has_value) {
      print_member(std::strtoull(arguments[++i], nullptr, 10));
      return 0;
    } else {
      seconds = 0;
    }
  }
  if (!(seconds > 0)) {
    std::fprintf(stderr, "usage: yardsticks [--seconds S] [--json] [--member K]\n");
    return 1;
  }
  json ? print_json(seconds) : print_table(seconds);
  return 0;
}
