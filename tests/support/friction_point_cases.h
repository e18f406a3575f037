// Points with friction: known answers on inclines, belts, planes in space, and through an accumulation.
#pragma once

#include <string>
#include <vector>

#include "tests/support/friction_case.h"

namespace zwang {

// A point on the floor y = 0 of an incline: x up the slope, gravity (-sin, -cos).
inline std::string incline(const std::string& friction_static) {
  return R"toml(
[[point]]
name = "p"
mass = 1
position = [0, 0]
velocity = [4, 0]
[system]
gravity = [-5.886, -7.848]
[[constraint]]
name = "slope"
require = "p.y >= 0"
friction = 0.5
friction_static = )toml" +
         friction_static + R"toml(
[time]
end = 2
[measure]
t_stop = "min(max(first(sticks(slope)), 0), 9)"
t_turn = "first(reverses(slope))"
x = "final(p.x)"
v = "final(p.x')"
lambda_T = "final(friction(slope))"
)toml";
}

inline std::vector<FrictionCase> point_cases() {
  return {
      {"F_oscillator",
       R"toml(
[[point]]
name = "p"
mass = 1
position = [3, 0]
velocity = [0, 0]
[system]
gravity = [0, -9.81]
[system.force]
"p.x" = "-4*p.x"
[[constraint]]
name = "floor"
require = "p.y >= 0"
friction = 0.1
slip = "p.x'"
[time]
end = 12
[measure]
half_periods = "count(reverses(floor)) + count(sticks(floor))"
rest_time = "last(sticks(floor))"
rest_x = "final(p.x)"
lambda_T = "final(friction(floor))"
lambda_N = "final(multiplier(floor))"
dissipated = "final(dissipated(floor))"
)toml",
       {{"half_periods", 6},
        {"rest_time", 9.42477796076937972},
        {"rest_x", 0.057},
        {"lambda_T", 0.228},
        {"lambda_N", 9.81},
        {"dissipated", 17.993502}}},
      {"F_incline_stays",
       incline("0.8"),
       {{"t_stop", 0.407747196738022426}, {"x", 0.815494393476044852}, {"v", 0}, {"lambda_T", 5.886}}},
      {"F_incline_slides",
       incline("0.7"),
       {{"t_turn", 0.407747196738022426}, {"x", -1.67160448521916412}, {"v", -3.124}}},
      {"F_belt",
       R"toml(
[parameters]
V = 0.2
[[point]]
name = "p"
mass = 1
position = [0, 0]
velocity = ["V", 0]
[system]
gravity = [0, -9.81]
[system.force]
"p.x" = "-4*p.x"
[[constraint]]
name = "belt"
require = "p.y >= 0"
friction = 0.3
friction_static = 0.5
slip = "p.x' - V"
[time]
end = 60
[measure]
first_slip = "first(slides(belt))"
x_s = "at(slides(belt), p.x)"
x_e = "at(sticks(belt), p.x)"
slip_time = "first(sticks(belt)) - first(slides(belt))"
period = "(last(slides(belt)) - first(slides(belt)))/8"
slips = "count(slides(belt))"
)toml",
       {{"first_slip", 6.13125},
        {"x_s", 1.22625},
        {"x_e", 0.24525},
        {"slip_time", 1.77191371079183793},
        {"period", 6.67691371079183793},
        {"slips", 9}}},
      {"F_puck",
       R"toml(
[[point]]
name = "p"
mass = 1
position = [0, 0, 0]
velocity = [3, 4, 0]
[system]
gravity = [0, 0, -9.81]
[[constraint]]
name = "floor"
require = "p.z >= 0"
friction = 0.25
[time]
end = 3
[measure]
t_stop = "first(sticks(floor))"
x = "final(p.x)"
y = "final(p.y)"
)toml",
       {{"t_stop", 2.03873598369011213}, {"x", 3.0581039755351682}, {"y", 4.07747196738022426}}},
      {"F_puck_incline",
       R"toml(
[[point]]
name = "p"
mass = 1
position = [0, 0, 0]
velocity = ["-sqrt(2)", "sqrt(2)", 0]
[system]
gravity = [1.22625, 0, -9.81]
[[constraint]]
name = "floor"
require = "p.z >= 0"
friction = 0.25
slip = ["p.x'", "p.y'"]
[[event]]
name = "half"
when = "t - 0.5"
[time]
end = 1
[measure]
vx = "at(event(half), p.x')"
vy = "at(event(half), p.y')"
t_stop = "first(sticks(floor))"
x = "final(p.x)"
y = "final(p.y)"
)toml",
       {{"vx", -0.112225149603950904},
        {"vy", 0.41439077333989185},
        {"t_stop", 0.702898114203711845},
        {"x", -0.361108290790673489},
        {"y", 0.506351804226150752}}},
      {"F_zeno",
       R"toml(
[[point]]
name = "p"
mass = 1
position = [0, 1]
velocity = [3, 0]
[system]
gravity = [0, -9.81]
[[constraint]]
name = "floor"
require = "p.y >= 0"
restitution = 0.5
friction = 0.2
[time]
end = 2
[measure]
first_impact = "first(shock(floor))"
after_first = "at(shock(floor), p.x')"
t_z = "first(accumulation(floor))"
t_rest = "last(sticks(floor))"
x_rest = "final(p.x)"
v_z = "at(accumulation(floor), p.x')"
x_z = "at(accumulation(floor), p.x)"
rubbed = "total(friction_impulse(floor))"
)toml",
       {{"first_impact", 0.451523640985730904},
        {"after_first", 1.67116592457899395},
        {"t_z", 1.35457092295719271},
        {"t_rest", 1.5290519877675841},
        {"x_rest", 2.49357798165137615},
        {"v_z", 0.342331849157987896},
        {"x_z", 2.46371276887157814},
        // mu times the normal impulses of all bounces, (1 + e)/(1 - e) sqrt(2 g h)
        {"rubbed", 2.6576681508420124}}},
  };
}

}  // namespace zwang
