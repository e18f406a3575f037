// Bodies with friction: rolling, impacts, the ladder, the box and Painleve's rod, with known answers.
#pragma once

#include <string>
#include <vector>

#include "tests/support/friction_body_studies.h"
#include "tests/support/friction_case.h"

namespace zwang {

inline std::vector<FrictionCase> body_cases() {
  return {
      {"F_bowling_1",
       bowling(rates("0", "0", "0")),
       {{"t_roll", 1.16499199068006407}, {"vx", 5.71428571428571429}, {"x_roll", 7.98851650752043937}}},
      {"F_bowling_2",
       bowling(rates("20", "-10", "5")),
       {{"t_roll", 1.36335486688778721},
        {"vx", 5.4},
        {"vy", -0.628571428571428571},
        {"x_roll", 9.13447760814817433},
        {"y_roll", -0.428482958164733124},
        {"wa", 5.71428571428571429},
        {"wb", 49.0909090909090909},
        {"wc", 5},
        {"x", 17.9723613269541234},
        {"y", -1.45723132754955259}}},
      {"F_ball_bounce_stick",
       ball("friction = 0.4\nrestitution = 0.8\n", ""),
       {{"x", 1.85714285714285714},
        {"y", 3.2},
        {"phi", -3.71428571428571429},
        {"P_N", 14.4},
        {"P_T", 2.28571428571428571}}},
      {"F_ball_bounce_slip",
       ball("friction = 0.1\nrestitution = 0.8\n", ""),
       {{"x", 2.28}, {"y", 3.2}, {"phi", -1.6}, {"P_N", 14.4}, {"P_T", 1.44}}},
      {"F_superball",
       ball("friction = 2\nrestitution = 1\nrestitution_tangential = 1\n", "potential = \"19.62*y\""),
       {{"x", 0.714285714285714286},
        {"y", 4},
        {"phi", -9.42857142857142857},
        {"P_T", 9.14285714285714286},
        {"last_x", 3},
        {"last_phi", 2}}},
      {"F_ladder",
       planar_body("cos(pi/3);sin(pi/3);pi/3", "0;0;0", "1/3", std::string("@") + R"toml(
[system]
kinetic = "0.5*(x'^2 + y'^2) + 0.5*I*phi'^2"
potential = "g*y"
[[constraint]]
name = "floor"
require = "y - sin(phi) >= 0"
friction = 0.2
slip = "x' - sin(phi)*phi'"
[[constraint]]
name = "wall"
require = "x - cos(phi) >= 0"
friction = 0.1
slip = "y' + cos(phi)*phi'"
[[event]]
name = "half"
when = "t - 0.5"
[time]
end = 0.8
[measure]
N_floor = "initial(multiplier(floor))"
N_wall = "initial(multiplier(wall))"
theta = "at(event(half), phi)"
rate = "at(event(half), phi')"
t_leaves = "first(release(wall))"
theta_leaves = "at(release(wall), phi)"
rate_leaves = "at(release(wall), phi')"
)toml"),
       {{"N_floor", 8.96084662274839173},
        {"N_wall", 2.78122399134437063},
        {"theta", 0.874882605702838145},
        {"rate", -0.818085757744426461},
        {"t_leaves", 0.777784035853035136},
        {"theta_leaves", 0.50638566386808839},
        {"rate_leaves", -1.98816909670535917}}},
      {"F_box_sticks", box_on_incline("0.4", "0.5"), {{"x", 0}, {"y", 0}, {"phi", 0}, {"sticks", 1}}},
      {"F_box_slides",
       box_on_incline("0.5", "0.4"),
       {{"x", 1.25953056084940889 / 8}, {"y", 0}, {"phi", 0}, {"left", 1}, {"sticks", 0}}},
      {"F_box_tips", box_on_incline("0.7", "1"), {{"left", 0}, {"sticks", 1}}},
      {"F_box_tips_and_slides", box_on_incline("0.9", "0.65"), {{"left", 0}, {"sticks", 0}}},
      {"F_painleve_regular", painleve("1.2", "1"), {{"lambda_N", 55.7223300562505258}}},
      {"F_painleve_inconsistent", painleve("1.5", "1"), {}, "painleve"},
      {"F_painleve_indeterminate", painleve("1.5", "4"), {}, "painleve"},
      {"F_disk_rolls", disk("1/2", "0.6"), {{"x", 7.38552355200706247}, {"rolls", 1}}},
      {"F_disk_slips", disk("1/2", "0.7"), {{"x", 8.88800009497308274}, {"rolls", 0}}},
      {"F_sphere_rolls", disk("2/5", "0.7"), {{"x", 9.02825073114535605}, {"rolls", 1}}},
      {"F_box_corner_smooth",
       box_corner("0"),
       {{"x", 3.0},
        {"y", -0.376763811002685567},
        {"phi", -2.71363816120161573},
        {"P_N", 2.62323618899731443}}},
      {"F_box_corner_slips",
       box_corner("0.1"),
       {{"x", 2.75235979223610483},
        {"y", -0.523597922361048318},
        {"phi", -3.77120960599555481},
        {"P_N", 2.47640207763895168},
        {"P_T", 0.247640207763895168}}},
      {"F_box_corner_sticks",
       box_corner("1"),
       {{"x", 2.57198113896066288},
        {"y", -0.630550422122192717},
        {"phi", -4.54153408067202361},
        {"P_N", 2.36944957787780728},
        {"P_T", 0.428018861039337117}}},
      {"F_rocking_block",
       box("a = 0.1\nb = 0.5\n", "0;0.5;0", "0.5;-0.1;-1", "1", std::string(free_kinetic) + R"toml(
[time]
end = 0.001
[measure]
x = "at(shock(right), x')"
y = "at(shock(right), y')"
phi = "at(shock(right), phi')"
P_N = "total(impulse(right))/sqrt(1 + a^2)"
P_T = "total(friction_impulse(right))"
)toml"),
       {{"x", 0.471153846153846154},
        {"y", 0.0942307692307692308},
        {"phi", -0.942307692307692308},
        {"P_N", 0.194230769230769231},
        {"P_T", 0.0288461538461538462}}},
  };
}

}  // namespace zwang
