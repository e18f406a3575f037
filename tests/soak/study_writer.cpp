#include "tests/soak/study_writer.h"

#include <cmath>

namespace zwang::soak {

namespace {

std::string listed(const std::vector<std::string>& entries) {
  std::string made;
  for (const std::string& entry : entries) made += (made.empty() ? "" : ", ") + entry;
  return "[" + made + "]";
}

std::string quoted(const std::string& formula) { return "\"" + formula + "\""; }

}  // namespace

void StudyWriter::parameter(const std::string& name, const std::string& value) {
  parameters_ += fmt::format("{} = {}\n", name, value);
}

void StudyWriter::anchor(const std::string& name, const Place& place, bool moving) {
  std::vector<std::string> position;
  for (const double x : place)
    position.push_back(moving && dice.chance(0.6) ? quoted(length(x) + " + " + sway(0.2)) : length(x));
  bodies_ += fmt::format("\n[[anchor]]\nname = \"{}\"\nposition = {}\n", name, listed(position));
}

void StudyWriter::point(const std::string& name, const Place& place, double speed_size) {
  const double m = units.mass * std::pow(10, dice.between(-0.7, 0.7));
  const std::string mass =
      dice.chance(0.4) ? fmt::format("mass_{}", name) : number(dice.chance(0.3) ? units.mass : m);
  if (mass.starts_with("mass_"))
    parameter(mass, fmt::format("{{ lognormal = {{ mean = {}, std = 0.2 }} }}", number(std::log(m))));
  std::vector<std::string> position, velocity;
  for (const double x : place) position.push_back(length(x));
  for (std::size_t k = 0; k < dimension; ++k) {
    const double v = speed_size * dice.between(-1, 1);
    if (dice.chance(0.15))
      velocity.push_back("0");
    else if (dice.chance(0.5))
      velocity.push_back(
          fmt::format("{{ uniform = [{}, {}] }}", speed(v - 0.3 * speed_size), speed(v + 0.3 * speed_size)));
    else
      velocity.push_back(
          fmt::format("{{ normal = {{ mean = {}, std = {} }} }}", speed(v), speed(0.3 * speed_size)));
  }
  bodies_ += fmt::format("\n[[point]]\nname = \"{}\"\nmass = {}\nposition = {}\nvelocity = {}\n", name,
                         mass.starts_with("mass_") ? quoted(mass) : mass, listed(position), listed(velocity));
  point_names_.push_back(name);
}

void StudyWriter::coordinate(const std::string& name, double position, double rate) {
  bodies_ +=
      fmt::format("\n[[coordinate]]\nname = \"{}\"\nposition = {}\nvelocity = {{ uniform = [{}, {}] }}\n",
                  name, number(position), number(rate - std::abs(rate)), number(rate + std::abs(rate)));
}

void StudyWriter::force(const std::string& coordinate, const std::string& formula) {
  forces_ += fmt::format("\"{}\" = \"{}\"\n", coordinate, formula);
}

std::string StudyWriter::restitution() {
  if (dice.chance(0.45)) return "";
  if (dice.chance(0.3))
    return fmt::format("restitution = {{ uniform = [{}, 0.95] }}\n", dice.chance(0.5) ? "0" : "0.3");
  constexpr const char* values[] = {"0.2", "0.5", "0.8", "1"};
  return fmt::format("restitution = {}\n", values[dice.below(4)]);
}

// Keys of friction, for most contacts that can slip.
std::string StudyWriter::friction(const std::string& name, const std::string& slip) {
  if (rubbing_->chance(0.2)) return "";
  std::string made;
  double most = rubbing_->between(0.05, rubbing_->chance(0.2) ? 1.5 : 0.6);
  if (rubbing_->chance(0.4)) {
    made += fmt::format("friction = {{ uniform = [{}, {}] }}\n", number(0.3 * most), number(most));
  } else {
    made += fmt::format("friction = {}\n", number(most));
    if (rubbing_->chance(0.25)) made += fmt::format("friction_static = {}\n", number(most * 1.3));
  }
  if (slip != derived_slip) made += fmt::format("slip = {}\n", slip);
  if (rubbing_->chance(0.15))
    made += fmt::format("restitution_tangential = {}\n", number(rubbing_->between(0, 1)));
  friction_names_.push_back(name);
  return made;
}

// Keys of a limit: some weights, for about a third of the equations and a few strings, which break.
std::string StudyWriter::limit(const std::string& name, const std::string& formula) {
  const bool equation = formula.find("==") != std::string::npos;
  if (!rubbing_->chance(equation ? 0.35 : 0.15)) return "";
  const double weight = units.mass * units.gravity;
  std::string made = fmt::format("limit = {}\n", number(weight * rubbing_->between(0.5, 6)));
  if (!equation || rubbing_->chance(0.4)) {
    made += "breaks = true\n";
    const double bears = units.mass * units.speed * rubbing_->between(0.2, 4);
    made += fmt::format("impulse_limit = {}\n", rubbing_->chance(0.5) ? "inf" : number(bears));
    breaking_names_.push_back(name);
  } else if (rubbing_->chance(0.3)) {
    made += fmt::format("impulse_limit = {}\n", number(units.mass * units.speed * rubbing_->between(0.1, 2)));
    bounded_names_.push_back(name);
  } else {
    bounded_names_.push_back(name);
  }
  return made;
}

std::string StudyWriter::require(const std::string& stem, const std::string& formula, const std::string& more,
                                 const std::string& slip) {
  const std::string name = fresh(stem);
  conditions_ += fmt::format("\n[[constraint]]\nname = \"{}\"\nrequire = \"{}\"\n{}", name, formula, more);
  // A condition on velocities has no restitution.
  const bool rebounds = formula.find("==") == std::string::npos && formula.find('\'') == std::string::npos;
  if (rebounds) conditions_ += restitution();
  if (rubs() && rebounds && !slip.empty()) conditions_ += friction(name, slip);
  if (rubs() && (formula.find("==") != std::string::npos || stem == "string"))
    conditions_ += limit(name, formula);
  condition_names_.push_back(name);
  if (formula.find("==") == std::string::npos) inequality_names_.push_back(name);
  return name;
}

void StudyWriter::impulse(const std::string& on, double at) {
  std::vector<std::string> gain;
  for (std::size_t k = 0; k < dimension; ++k) gain.push_back(speed(dice.between(-2, 2)));
  impulses_ += fmt::format("\n[[impulse]]\nat = {}\non = \"{}\"\nvelocity = {}\n",
                           number(at * units.duration), on, listed(gain));
}

void StudyWriter::watch(const std::string& formula) {
  watches_ += fmt::format("\n[[event]]\nname = \"{}\"\nwhen = \"{}\"\n", fresh("gate"), formula);
}

void StudyWriter::observe(const std::string& formula) {
  observables_ += fmt::format("{} = \"{}\"\n", fresh("seen"), formula);
}

void StudyWriter::measure(const std::string& formula) {
  measures_ += fmt::format("{} = \"{}\"\n", fresh("number"), formula);
}

std::string StudyWriter::sway(double size) {
  const double w = dice.between(0.3, 6) / units.duration;
  return fmt::format("{}*sin({}*t + {})", length(size * dice.between(0.05, 1)), number(w),
                     number(dice.between(0, 6)));
}

Place StudyWriter::direction() {
  for (;;) {
    Place made;
    double square = 0;
    for (std::size_t k = 0; k < dimension; ++k) {
      made.push_back(dice.between(-1, 1));
      square += made.back() * made.back();
    }
    if (square > 1 || square < 0.01) continue;
    for (double& x : made) x /= std::sqrt(square);
    return made;
  }
}

std::string StudyWriter::text(const std::string& title, long long members) const {
  std::string made = fmt::format("title = \"{}\"\n", title);
  if (!parameters_.empty()) made += "\n[parameters]\n" + parameters_;
  made += bodies_;
  made += "\n[system]\n";
  if (!point_names_.empty() && units.gravity > 0) {
    std::vector<std::string> pull(dimension, "0");
    pull.back() = number(-units.gravity);
    made += fmt::format("gravity = {}\n", listed(pull));
  }
  if (!kinetic_.empty()) made += fmt::format("kinetic = \"{}\"\n", kinetic_);
  if (!potential_.empty()) made += fmt::format("potential = \"{}\"\n", potential_);
  if (!forces_.empty()) made += "[system.force]\n" + forces_;
  made += conditions_ + impulses_ + watches_;
  made += fmt::format("\n[ensemble]\nmembers = {}\nconsistency = \"project\"\n", members);
  made += fmt::format("\n[time]\nend = {}\nsamples = 13\n", number(duration * units.duration));
  if (!stop.empty()) made += fmt::format("stop = \"{}\"\n", stop);
  made += "\n[integrator]\nmax_events = 20000\n" + settings;
  if (!observables_.empty()) made += "\n[observe]\n" + observables_;
  if (!measures_.empty()) made += "\n[measure]\n" + measures_;
  return made;
}

}  // namespace zwang::soak
