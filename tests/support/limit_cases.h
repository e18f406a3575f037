// Bounded multipliers: brakes, clutches and cables with known answers.
#pragma once

#include <vector>

#include "tests/support/friction_case.h"

namespace zwang {

inline std::vector<FrictionCase> limit_cases() {
  return {
      {"L_brake_pendulum",
       R"toml(
[parameters]
m = 2
g = 9.81
L = 3
[[coordinate]]
name = "phi"
position = 2
velocity = 0
[system]
kinetic = "0.5*m*phi'^2"
potential = "-m*g*cos(phi)"
[[constraint]]
name = "brake"
require = "phi' == 0"
limit = "L"
[time]
end = 7
[measure]
first_angle = "at(reverses(brake), phi)"
first_time = "first(reverses(brake))"
turns = "count(reverses(brake)) + count(locks(brake))"
rest_angle = "final(phi)"
rest_time = "last(locks(brake))"
multiplier = "final(multiplier(brake))"
dissipated = "final(dissipated(brake))"
yields = "count(yields(brake))"
)toml",
       {{"first_angle", -1.45796332754752919},
        {"first_time", 1.2635493756041483},
        {"turns", 5},
        {"rest_angle", -0.0687448055831647866},
        {"rest_time", 5.49168148903009934},
        {"multiplier", 1.34771098704087765},
        {"dissipated", 27.7384586161607998},
        {"yields", 0}}},
      {"L_clutch",
       R"toml(
[parameters]
J1 = 1
J2 = 2
L = 2
k = 0.3
[[coordinate]]
name = "a"
position = 0
velocity = 10
[[coordinate]]
name = "b"
position = 0
velocity = 1
[system]
kinetic = "0.5*J1*a'^2 + 0.5*J2*b'^2"
[system.force]
b = "-k*t"
[[constraint]]
name = "clutch"
require = "a' - b' == 0"
limit = "L"
[time]
end = 25
[measure]
t_lock = "first(locks(clutch))"
speed_at_lock = "at(locks(clutch), a')"
multiplier_after_lock = "at(locks(clutch), multiplier(clutch))"
t_yield = "first(yields(clutch))"
a = "final(a')"
b = "final(b')"
dissipated = "final(dissipated(clutch))"
)toml",
       {{"t_lock", 3.26679946931848904},
        {"speed_at_lock", 3.46640106136302192},
        {"multiplier_after_lock", 0.326679946931848904},
        {"t_yield", 20.0},
        {"a", -26.0},
        {"b", -27.875},
        {"dissipated", 34.7796148590823069}}},
      {"L_three_blocks",
       R"toml(
[[coordinate]]
name = "x1"
position = 0
velocity = 0
[[coordinate]]
name = "x2"
position = 0
velocity = 0
[[coordinate]]
name = "x3"
position = 0
velocity = 0
[system]
kinetic = "0.5*x1'^2 + x2'^2 + 1.5*x3'^2"
[system.force]
x1 = "3*sin(t)"
[[constraint]]
name = "a"
require = "x1' - x2' == 0"
limit = 2
[[constraint]]
name = "b"
require = "x2' - x3' == 0"
limit = 1
[time]
end = 6
[measure]
t_b_yields = "first(yields(b))"
t_a_yields = "first(yields(a))"
t_a_locks = "first(locks(a))"
t_b_locks = "first(locks(b))"
x1_locks = "at(locks(a), x1')"
x3_locks = "at(locks(a), x3')"
t_b_again = "last(yields(b))"
t_a_again = "last(yields(a))"
t_a_locks_again = "last(locks(a))"
x1 = "final(x1')"
x3 = "final(x3')"
)toml",
       {{"t_b_yields", 0.729727656226966363},
        {"t_a_yields", 0.98511078333774566},
        {"t_a_locks", 2.76382348241376275},
        {"t_b_locks", 3.32311630367780286},
        {"x1_locks", 1.12413583835848042},
        {"x3_locks", 0.805353945812300512},
        {"t_b_again", 3.8713203098167596},
        {"t_a_again", 4.1267034369275389},
        {"t_a_locks_again", 5.90541613600355599},
        {"x1", -0.123288386172584171},
        {"x3", 0.16311809952221815}}},
      {"L_cable_breaks",
       R"toml(
[[point]]
name = "p"
mass = 1
position = [1, 0]
velocity = [0, 0]
[[anchor]]
name = "o"
position = [0, 0]
[system]
gravity = [0, -9.81]
[[constraint]]
name = "rod"
require = "distance(p, o) == 1"
limit = 19.62
breaks = true
[time]
end = 1
[measure]
t_break = "first(breaks(rod))"
x_break = "at(breaks(rod), p.x)"
y_break = "at(breaks(rod), p.y)"
vx_break = "at(breaks(rod), p.x')"
vy_break = "at(breaks(rod), p.y')"
x = "final(p.x)"
y = "final(p.y)"
vy = "final(p.y')"
gone = "final(broken(rod))"
)toml",
       {{"t_break", 0.389211484855387338},
        {"x_break", 0.745355992499929899},
        {"y_break", -0.666666666666666667},
        {"vx_break", -2.41108550933668326},
        {"vy_break", -2.69567554922076382},
        {"x", -0.727307345634514997},
        {"y", -4.14302643587756561},
        {"vy", -8.68751088278941403},
        {"gone", 1}}},
  };
}

}  // namespace zwang
