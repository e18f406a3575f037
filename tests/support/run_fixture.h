// Runs of ensembles in tests.
#pragma once

#include <string>
#include <vector>

#include "host/backend/backend_reference.h"
#include "host/run/run.h"

namespace zwang {

// A ball thrown up from a table at a random speed: cheap, with a shock in every member.
inline const std::string thrown_ball = R"toml(title = "A ball thrown up"
[parameters]
speed_up = { uniform = [1, 3] }
[[point]]
name = "ball"
mass = 1
position = [0.5]
velocity = ["speed_up"]
[system]
gravity = [-9.81]
[[constraint]]
name = "table"
require = "ball.x >= 0"
restitution = 0.4
[ensemble]
members = 300
[time]
end = 0.9
samples = 4
[observe]
height = "ball.x"
[measure]
highest = "maximum(ball.x)"
landing = "first(contact(table))"
[statistics]
histogram.height = { bins = 7 }
histogram.landing = { bins = 5, range = [0, 1] }
)toml";

// Members that fail in different ways; way 0 does not fail.
inline const std::string troubles = R"toml(title = "Members that fail, each in a way of its own"
[parameters]
way      = { choice = [0, 1, 2, 3, 4, 5] }
no_room  = "max(0, 1 - abs(way - 1))"
flat     = "max(0, 1 - abs(way - 2))"
fast     = "max(0, 1 - abs(way - 3))"
rootless = "max(0, 1 - abs(way - 4))"
squeeze  = "max(0, 1 - abs(way - 5))"
push     = { uniform = [1, 2] }
[[point]]
name = "between"
mass = 1
position = [0]
[[point]]
name = "apex"
mass = 1
position = [0]
[[point]]
name = "string"
mass = 1
position = [1]
[[point]]
name = "pushed"
mass = 1
position = [0]
[system]
potential = "0.5*(1 + 1e12*fast)*string.x^2"
[system.force]
"pushed.x" = "push*sqrt(1 - 2*rootless*t)"
"apex.x"   = "1"
[[constraint]]
name = "floor"
require = "between.x >= 2*no_room - 1 + 2*squeeze*t"
[[constraint]]
name = "ceiling"
require = "between.x <= 0.5"
[[constraint]]
name = "cone"
require = "apex.x^2 + (1 - flat)*(apex.x - 100) <= 0"
[ensemble]
members = 120
consistency = "project"
[time]
end = 1
samples = 3
[integrator]
max_steps = 1000
[observe]
place = "pushed.x"
[measure]
far = "maximum(pushed.x)"
[output]
members = true
)toml";

inline RunResult run_by_reference(const Study& study, RunOptions options = {}) {
  options.threads = 2;
  BackendReference backend(study, 2);
  return run_ensemble(study, backend, std::move(options));
}

}  // namespace zwang
