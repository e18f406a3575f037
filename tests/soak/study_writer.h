// Writes a random study: random numbers, units, and the text of its tables.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace zwang::soak {

// Gives the same numbers with every standard library.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  double between(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1p-53;
  }
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(engine_() % count); }
  bool chance(double probability) { return between(0, 1) < probability; }

 private:
  std::mt19937_64 engine_;
};

// Units of a study: every random number is a pure number times one of these.
struct Units {
  double length = 1, mass = 1, gravity = 9.81;
  double speed = 1;     // sqrt(gravity * length)
  double duration = 1;  // sqrt(length / gravity)
};

using Place = std::vector<double>;  // in units of length, one number per dimension

class StudyWriter {
 public:
  StudyWriter(std::uint64_t seed, std::size_t dimensions, const Units& scale)
      : dice(seed), dimension(dimensions), units(scale) {}

  // "name1", "name2", ...
  std::string fresh(const std::string& stem) { return fmt::format("{}{}", stem, ++names_); }

  void parameter(const std::string& name, const std::string& value);
  void anchor(const std::string& name, const Place& place, bool moving);
  // Velocities are drawn around `speed` (in units) in every direction.
  void point(const std::string& name, const Place& place, double speed);
  void coordinate(const std::string& name, double position, double speed);
  void force(const std::string& coordinate, const std::string& formula);
  void kinetic(const std::string& term) { add_term(kinetic_, term); }
  void potential(const std::string& term) { add_term(potential_, term); }
  // Returns the condition's name. Inequalities get a restitution now and then; in studies that rub, those with a
  // `slip` get friction, and equations a limit. `slip`: the key's value, or `derived_slip`; empty: cannot slip.
  std::string require(const std::string& stem, const std::string& formula, const std::string& more = "",
                      const std::string& slip = "");
  static constexpr const char* derived_slip = "derived";
  // From here on conditions get friction and limits, by dice of their own: the rest of the study stays the same.
  void rub(std::uint64_t seed) { rubbing_.emplace(seed); }
  bool rubs() const { return rubbing_.has_value(); }
  void impulse(const std::string& on, double at);
  void watch(const std::string& formula);
  void observe(const std::string& formula);
  void measure(const std::string& formula);

  std::string length(double x) const { return number(x * units.length); }
  std::string speed(double x) const { return number(x * units.speed); }
  static std::string number(double x) { return fmt::format("{:.9g}", x); }
  static const char* axis(std::size_t k) { return k == 0 ? "x" : k == 1 ? "y" : "z"; }
  std::string up() const { return axis(dimension - 1); }
  // u sin(w t + p), u of about `size` lengths, w a few radians in a unit of time.
  std::string sway(double size);
  // A unit vector.
  Place direction();

  std::string text(const std::string& title, long long members) const;
  const std::vector<std::string>& points() const { return point_names_; }
  const std::vector<std::string>& conditions() const { return condition_names_; }
  const std::vector<std::string>& inequalities() const { return inequality_names_; }
  const std::vector<std::string>& with_friction() const { return friction_names_; }
  const std::vector<std::string>& bounded() const { return bounded_names_; }
  const std::vector<std::string>& breaking() const { return breaking_names_; }

  Dice dice;
  const std::size_t dimension;
  const Units units;
  double duration = 2;     // of the motion, in units
  std::string settings{};  // further lines of [integrator]
  std::string stop{};      // of [time]

 private:
  static void add_term(std::string& sum, const std::string& term) {
    sum += (sum.empty() ? "" : " + ") + term;
  }
  std::string restitution();
  std::string friction(const std::string& name, const std::string& slip);
  std::string limit(const std::string& name, const std::string& formula);

  std::optional<Dice> rubbing_{};  // draws of friction and limits
  int names_ = 0;
  std::string parameters_, bodies_, kinetic_, potential_, forces_, conditions_, impulses_, watches_,
      observables_, measures_;
  std::vector<std::string> point_names_, condition_names_, inequality_names_, friction_names_, bounded_names_,
      breaking_names_;
};

}  // namespace zwang::soak
