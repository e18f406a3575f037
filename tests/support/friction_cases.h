// Studies with bounded multipliers or friction whose answers are known in closed form.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace zwang {

struct FrictionCase {
  std::string name;
  std::string study;
  std::vector<std::pair<std::string, double>> answers;  // measures
  std::string status = "ok";
  double digits = 1e-11;  // some hundreds of steps of rtol 1e-13
};

// Planar bodies by coordinates x, y, phi (counterclockwise), mass 1 unless said otherwise.
inline std::string planar_body(const std::string& start, const std::string& velocities,
                               const std::string& inertia, const std::string& rest) {
  const auto coordinate = [](const std::string& name, const std::string& q, const std::string& v) {
    return "[[coordinate]]\nname = \"" + name + "\"\nposition = \"" + q + "\"\nvelocity = \"" + v + "\"\n";
  };
  const auto split = [](std::string list) {
    std::vector<std::string> parts;
    for (std::size_t at = list.find(';'); at != std::string::npos; at = list.find(';')) {
      parts.push_back(list.substr(0, at));
      list = list.substr(at + 1);
    }
    parts.push_back(list);
    return parts;
  };
  const std::vector<std::string> q = split(start), v = split(velocities);
  return "[parameters]\nm = 1\ng = 9.81\n" + rest.substr(0, rest.find("@")) + "I = \"" + inertia + "\"\n" +
         coordinate("x", q[0], v[0]) + coordinate("y", q[1], v[1]) + coordinate("phi", q[2], v[2]) +
         rest.substr(rest.find("@") + 1);
}

std::vector<FrictionCase> friction_cases();

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

inline std::string bowling(const std::string& rates) {
  return R"toml(
[parameters]
R = 0.11
mu = 0.2
[[coordinate]]
name = "x"
position = 0
velocity = 8
[[coordinate]]
name = "y"
position = 0
velocity = 0
[[coordinate]]
name = "z"
position = 0.11
velocity = 0
)toml" + rates +
         R"toml(
[system]
kinetic = "0.5*(x'^2 + y'^2 + z'^2) + 0.2*R^2*(a'^2 + b'^2 + c'^2)"
potential = "9.81*z"
[[constraint]]
name = "floor"
require = "z >= R"
friction = "mu"
slip = ["x' - R*b'", "y' + R*a'"]
[time]
end = 3
[measure]
t_roll = "first(sticks(floor))"
vx = "final(x')"
vy = "final(y')"
x_roll = "at(sticks(floor), x)"
y_roll = "at(sticks(floor), y)"
wa = "final(a')"
wb = "final(b')"
wc = "final(c')"
x = "final(x)"
y = "final(y)"
)toml";
}

inline std::string rates(const char* a, const char* b, const char* c) {
  std::string made;
  for (const auto& [name, rate] : {std::pair{"a", a}, std::pair{"b", b}, std::pair{"c", c}})
    made += std::string("[[coordinate]]\nname = \"") + name + "\"\nposition = 0\nvelocity = " + rate + "\n";
  return made;
}

// The homogeneous sphere of mass 2 and radius 1/2 in the plane.
inline std::string ball(const std::string& keys, const std::string& rest) {
  return R"toml(
[[coordinate]]
name = "x"
position = 0
velocity = 3
[[coordinate]]
name = "y"
position = 0.5
velocity = -4
[[coordinate]]
name = "phi"
position = 0
velocity = 2
[system]
kinetic = "x'^2 + y'^2 + 0.1*phi'^2"
)toml" + rest +
         R"toml(
[[constraint]]
name = "floor"
require = "y >= 0.5"
slip = "x' + 0.5*phi'"
)toml" + keys +
         R"toml(
[measure]
x = "at(shock(floor), x')"
y = "at(shock(floor), y')"
phi = "at(shock(floor), phi')"
P_N = "total(impulse(floor))"
P_T = "total(friction_impulse(floor))"
last_x = "final(x')"
last_phi = "final(phi')"
[time]
end = 1
)toml";
}

inline const char* rod_on_floor = R"toml(
[system]
kinetic = "0.5*(x'^2 + y'^2) + 0.5*I*phi'^2"
potential = "g*y"
[[constraint]]
name = "floor"
require = "y - sin(phi) >= 0"
friction = "mu"
slip = "x' + sin(phi)*phi'"
[time]
end = 1e-6
[measure]
lambda_N = "initial(multiplier(floor))"
)toml";

inline std::string painleve(const std::string& mu, const std::string& w) {
  return planar_body("0;sin(phi0);phi0", "-1 - sin(phi0)*w;cos(phi0)*w;w", "1/3",
                     "mu = " + mu + "\nw = " + w + "\nphi0 = \"atan(2)\"\n@" + rod_on_floor);
}

inline std::string disk(const std::string& inertia, const std::string& alpha) {
  return planar_body("0;1;0", "0;0;0", inertia, "alpha = " + alpha + "\n@" + R"toml(
[system]
kinetic = "0.5*(x'^2 + y'^2) + 0.5*I*phi'^2"
potential = "-g*sin(alpha)*x + g*cos(alpha)*y"
[[constraint]]
name = "slope"
require = "y >= 1"
friction = 0.25
slip = "x' + phi'"
[time]
end = 2
[measure]
x = "final(x)"
rolls = "final(sticking(slope))"
)toml");
}

// A box 2a wide and 2b high on the floor.
inline std::string box(const std::string& sizes, const std::string& start, const std::string& velocities,
                       const std::string& mu, const std::string& rest) {
  return planar_body(start, velocities, "(a^2 + b^2)/3", sizes + "mu = " + mu + "\n@" + R"toml(
[[constraint]]
name = "left"
require = "y - a*sin(phi) - b*cos(phi) >= 0"
friction = "mu"
slip = "x' + (a*sin(phi) + b*cos(phi))*phi'"
[[constraint]]
name = "right"
require = "y + a*sin(phi) - b*cos(phi) >= 0"
friction = "mu"
slip = "x' + (b*cos(phi) - a*sin(phi))*phi'"
)toml" + rest);
}

inline const char* free_kinetic = R"toml(
[system]
kinetic = "0.5*(x'^2 + y'^2) + 0.5*I*phi'^2"
)toml";

inline std::string box_on_incline(const std::string& alpha, const std::string& mu) {
  return box("a = 0.3\nb = 0.5\nalpha = " + alpha + "\n", "0;0.5;0", "0;0;0", mu, std::string(R"toml(
[system]
kinetic = "0.5*(x'^2 + y'^2) + 0.5*I*phi'^2"
potential = "-g*sin(alpha)*x + g*cos(alpha)*y"
[time]
end = 0.125
[measure]
x = "final(x')"
y = "final(y')"
phi = "final(phi')"
left = "final(closed(left))"
sticks = "final(sticking(right))"
)toml"));
}

inline std::string box_corner(const std::string& mu) {
  return box("a = 0.3\nb = 0.5\n", "0;0.3*sin(0.3) + 0.5*cos(0.3);0.3", "3;-3;0.5", mu,
             std::string(free_kinetic) + R"toml(
[time]
end = 0.001
[measure]
x = "at(shock(left), x')"
y = "at(shock(left), y')"
phi = "at(shock(left), phi')"
P_N = "total(impulse(left))/sqrt(1 + (a*cos(0.3) - b*sin(0.3))^2)"
P_T = "total(friction_impulse(left))"
)toml");
}

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

inline std::vector<FrictionCase> friction_cases() {
  std::vector<FrictionCase> all;
  for (std::vector<FrictionCase> some : {limit_cases(), point_cases(), body_cases()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

}  // namespace zwang
