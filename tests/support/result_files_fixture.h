// A small ensemble run by the reference in one batch, for tests of result files.
#pragma once

#include <cmath>
#include <numeric>

#include "host/backend/backend_reference.h"
#include "host/backend/batch.h"
#include "host/run/count_members.h"
#include "host/sample/sampler.h"
#include "host/statistics/statistics.h"
#include "host/study_file/load_study.h"
#include "tests/support/scratch.h"

namespace zwang {

// A ball on a floor with two impulses: measures that are counts, measures that some members do not have, and
// two kinds of inputs. One member in five is stopped early. The nominal member is present and not part of any
// statistic.
inline const std::string ball_study = R"toml(
title = "A ball, \"dropped\""
[parameters]
g = 9.81
kick = { uniform = [-1.0, 4.0] }
[[point]]
name = "ball"
mass = 2.0
position = [0, { normal = { mean = 1.0, std = 0.1 } }]
velocity = [1, "kick"]
[[auxiliary]]
name = "clock"
initial = 0
rate = "1"
[system]
gravity = [0, "-g"]
[[constraint]]
name = "floor"
require = "ball.y >= 0"
restitution = 0.5
[[event]]
name = "gate"
when = "ball.x - 0.4"
[time]
end = 0.8
samples = 9
stop = "ball.y > 1.5"
[ensemble]
members = 40
seed = 7
include_nominal = true
[observe]
height = "ball.y"
flying = "open(floor)"
[measure]
bounces = "count(shock(floor))"
first_bounce = "first(shock(floor))"
highest = "maximum(ball.y)"
[statistics]
quantiles = [0.1, 0.5, 0.975]
histogram.height = { bins = 7 }
histogram.bounces = { bins = 4 }
[output]
members = true
trajectories = [0, 3, 1]
)toml";

struct SmallRun {
  Study study;
  Batch batch;
  BatchResults results;
  RunResult run;
  std::vector<std::size_t> drawn;
};

inline StatisticsPlan plan_of(const Study& study, std::size_t inputs) {
  const System& system = *study.system;
  StatisticsPlan plan;
  plan.members = study.ensemble.members;
  plan.outputs = study.time.outputs.size();
  plan.observables = system.observables.size();
  plan.measures = system.measures.size();
  plan.inputs = inputs;
  plan.quantiles = study.statistics.quantiles;
  const auto add = [&](const auto& named, bool of_measure) {
    for (std::size_t i = 0; i < named.size(); ++i) {
      const auto asked = study.statistics.histograms.find(named[i].name);
      if (asked != study.statistics.histograms.end())
        plan.histograms.push_back({.of_measure = of_measure,
                                   .index = i,
                                   .bins = static_cast<std::size_t>(asked->second.bins),
                                   .range = {}});
    }
  };
  add(system.observables, false);
  add(system.measures, true);
  return plan;
}

inline SmallRun small_run(const std::string& text, const std::string& path = "ball.toml",
                          const std::vector<std::string>& overrides = {}) {
  SmallRun made{
      .study = read_study(text, path, overrides), .batch = {}, .results = {}, .run = {}, .drawn = {}};
  const Study& study = made.study;
  const Sampler sampler(study);
  made.drawn = sampler.drawn();
  std::vector<unsigned long long> members(static_cast<std::size_t>(study.ensemble.members));
  std::iota(members.begin(), members.end(), 0ULL);
  made.batch = prepare_batch(study, members, 1);
  BackendReference backend(study, 1);
  made.results = backend.run(made.batch, {.observables = true, .states = true, .events = true});

  made.run.backend = backend.name();
  made.run.device = backend.device();
  made.run.precision = "double";
  made.run.requested = study.ensemble.members;
  made.run.inputs = sampler.drawn_names();
  add_to_tally(made.run.tally, study.ensemble, 0, made.batch, made.results);
  std::vector<char> entered;
  for (std::size_t k = 0; k < made.batch.count; ++k)
    entered.push_back(enters(study.ensemble, static_cast<long long>(k), made.results.status[k]) ? 1 : 0);
  std::vector<double> inputs;
  for (std::size_t k = 0; k < made.batch.count; ++k)
    for (const std::size_t i : made.drawn)
      inputs.push_back(made.batch.parameters[k * study.system->parameters.size() + i]);
  Statistics statistics(plan_of(study, made.drawn.size()));
  statistics.add({0, entered, made.results.observables, made.results.measures, inputs});
  made.run.statistics = statistics.finish();
  return made;
}

}  // namespace zwang
