// Part of a report: stored trajectories and their events.
#include <algorithm>
#include <cmath>

#include "host/files/write_origin.h"
#include "host/netcdf/netcdf_source.h"
#include "host/report/report_data.h"
#include "host/report/report_scene.h"
#include "host/study/study.h"
#include "src/system/body.h"
#include "src/system/system.h"

namespace zwang {

namespace {

constexpr std::size_t most_moving = 24;      // members in the motion view
constexpr std::size_t most_listed = 400;     // members in the raster
constexpr std::size_t most_events = 12'000;  // in the raster
constexpr std::size_t most_state_numbers = 200'000;
constexpr std::size_t most_jump_numbers = 60'000;
constexpr std::size_t most_curves = 12;  // members over a fan chart

// Members and times that are shown.
struct Choice {
  std::size_t members = 0;
  std::vector<std::size_t> times;
};

Choice choose(const Study& study, std::size_t members) {
  const std::size_t each = 2 * study.system->size() + study.system->constraints.size() + 1;
  Choice made{.members = std::min(members, most_moving), .times = {}};
  constexpr std::size_t few_times = 100;
  while (made.members > 1 && made.members * few_times * each > most_state_numbers) --made.members;
  const std::size_t affordable = most_state_numbers / (std::max<std::size_t>(made.members, 1) * each);
  made.times = spread(study.time.outputs.size(), std::clamp<std::size_t>(affordable, 20, 1000));
  return made;
}

// [member][time][column] of a variable (trajectory, time, column).
ReportJson states(const NetcdfSource& file, const std::string& name, const Choice& choice) {
  const std::vector<std::size_t> shape = file.shape(name);
  ReportJson made = ReportJson::array();
  for (std::size_t m = 0; m < choice.members; ++m) {
    const std::vector<double> all = file.numbers(name, m, 1);
    ReportJson rows = ReportJson::array();
    for (const std::size_t t : choice.times) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(t * shape[2]);
      rows.push_back(rounded(std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(shape[2]))));
    }
    made.push_back(rows);
  }
  return made;
}

// [member][time] of each observable, over the times of the fan charts.
ReportJson curves(const NetcdfSource& file, const ReportSource& source, std::size_t members) {
  const std::vector<std::size_t> times = report_times(source);
  const std::size_t columns = file.shape("observables")[2];
  ReportJson made = ReportJson::array();
  for (std::size_t i = 0; i < std::min(columns, report_names_limit); ++i) made.push_back(ReportJson::array());
  for (std::size_t m = 0; m < std::min(members, most_curves); ++m) {
    const std::vector<double> all = file.numbers("observables", m, 1);
    for (std::size_t i = 0; i < made.size(); ++i) {
      std::vector<double> one;
      for (const std::size_t t : times) one.push_back(all[t * columns + i]);
      made[i].push_back(rounded(one));
    }
  }
  return made;
}

// Velocities before and after jumps of the members in the motion view, up to a size limit.
class Jumps {
 public:
  Jumps(const NetcdfSource& file, const Choice& choice, std::size_t size)
      : file_(file), choice_(choice), size_(size) {}

  void add(std::size_t event, std::size_t member, ReportJson& to) {
    if (member >= choice_.members || used_ + 2 * size_ > most_jump_numbers) return;
    const std::vector<double> before = file_.numbers("event_velocity_before", event, 1);
    if (before.empty() || std::isnan(before[0])) return;
    to["before"] = rounded(before);
    to["after"] = rounded(file_.numbers("event_velocity_after", event, 1));
    used_ += 2 * size_;
  }

 private:
  const NetcdfSource& file_;
  const Choice& choice_;
  std::size_t size_, used_ = 0;
};

double largest(const std::vector<double>& values, std::size_t begin, std::size_t count) {
  double made = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t i = begin; i < begin + count; ++i)
    if (!std::isnan(values[i]) && !(made >= values[i])) made = values[i];
  return made;
}

// [constraint, impulse] of each constraint that took part in a shock.
ReportJson impulses_of(const Study& study, const std::vector<double>& impulses, std::size_t event) {
  const auto& constraints = study.system->constraints;
  ReportJson made = ReportJson::array();
  for (std::size_t i = 0; i < constraints.size(); ++i)
    if (const double size = impulses[event * constraints.size() + i]; !std::isnan(size) && size != 0)
      made.push_back(ReportJson::array({constraints[i].name, rounded(size)}));
  return made;
}

// Which events of a member the raster shows: every k-th, k by member, so that all members show about equally
// many.
std::vector<std::size_t> event_strides(const std::vector<long long>& owner) {
  std::vector<std::size_t> counts;
  for (const long long one : owner) {
    const auto member = static_cast<std::size_t>(one);
    if (member >= most_listed) break;
    if (member >= counts.size()) counts.resize(member + 1, 0);
    ++counts[member];
  }
  const std::size_t each = std::max<std::size_t>(1, most_events / std::max<std::size_t>(1, counts.size()));
  for (std::size_t& count : counts) count = std::max<std::size_t>(1, (count + each - 1) / each);
  return counts;
}

// Whether the event begins or ends a contact or its stick, or breaks something: the motion view shows which contacts stick
// and what is broken.
bool changes_picture(const System& system, const std::string& kind) {
  if (kind == "break") return true;
  return !system.frictions.empty() &&
         (kind == "stick" || kind == "slide" || kind == "reverse" || kind == "contact" || kind == "release");
}

ReportJson events(const NetcdfSource& file, const ReportSource& source, const Choice& choice) {
  const std::vector<long long> owner = file.integers("event_trajectory"), kind = file.integers("event_kind");
  const std::vector<double> time = file.numbers("event_time"), impulse = file.numbers("event_impulse"),
                            lost = file.numbers("event_energy_lost");
  const std::vector<std::string> name = file.texts("event_name"),
                                 constraints = file.texts("event_constraints");
  const std::vector<std::string> words = event_words();
  const std::size_t conditions = source.study.system->constraints.size();
  Jumps jumps(file, choice, source.study.system->size());
  ReportJson made = ReportJson::array();
  const std::vector<std::size_t> strides = event_strides(owner);
  std::vector<std::size_t> number(strides.size(), 0);
  for (std::size_t e = 0; e < time.size(); ++e) {
    const auto member = static_cast<std::size_t>(owner[e]);
    if (member >= most_listed) break;
    const bool listed = number[member]++ % strides[member] == 0;
    // The motion view needs every jump and change of mode of its members, also those that the raster leaves out.
    if (!listed && member >= choice.members) continue;
    ReportJson one = {{"member", member},
                      {"t", rounded(time[e])},
                      {"kind", words.at(static_cast<std::size_t>(kind[e]))},
                      {"who", name[e].empty() ? constraints[e] : name[e]}};
    if (const double size = largest(impulse, e * conditions, conditions); !std::isnan(size))
      one["impulse"] = rounded(size);
    if (member < choice.members)
      if (ReportJson parts = impulses_of(source.study, impulse, e); parts.size() > 1) one["parts"] = parts;
    if (!std::isnan(lost[e])) one["lost"] = rounded(lost[e]);
    jumps.add(e, member, one);
    if (!listed && !one.contains("before") && !changes_picture(*source.study.system, one["kind"])) continue;
    if (!listed) one["unlisted"] = true;
    made.push_back(one);
  }
  return made;
}

}  // namespace

ReportJson report_motion(const ReportSource& source) {
  if (!source.has_trajectories) return nullptr;
  const NetcdfSource file(source.folder / "trajectories.nc");
  const std::vector<long long> members = file.integers("trajectory");
  const Choice choice = choose(source.study, members.size());
  const std::vector<long long> moving(members.begin(),
                                      members.begin() + static_cast<std::ptrdiff_t>(choice.members));
  ReportJson times = ReportJson::array();
  for (const std::size_t t : choice.times) times.push_back(rounded(source.study.time.outputs[t]));
  ReportJson made;
  made["members"] = std::vector<long long>(
      members.begin(), members.begin() + static_cast<std::ptrdiff_t>(std::min(members.size(), most_listed)));
  made["moving"] = choice.members;
  made["in_files"] = members.size();
  made["events_in_files"] = file.shape("event_time").at(0);
  made["end"] = rounded(file.numbers("end_time"));
  made["time"] = times;
  made["last"] = rounded(source.study.time.end);
  made["coordinates"] = source.study.system->coordinates;
  made["position"] = states(file, "position", choice);
  made["velocity"] = states(file, "velocity", choice);
  made["closed"] = states(file, "closed", choice);
  const auto& bodies = source.study.system->bodies;
  if (std::any_of(bodies.begin(), bodies.end(), [](const Body& body) { return body.spatial(); }))
    made["auxiliary"] = states(file, "auxiliaries", choice);
  made["curves"] = curves(file, source, members.size());
  made["events"] = events(file, source, choice);
  made["event_strides"] = event_strides(file.integers("event_trajectory"));
  made["scene"] = report_scene(source, moving, choice.times);
  return made;
}

}  // namespace zwang
