// Studies with rigid bodies whose answers are known in closed form or by elliptic functions.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace zwang {

struct BodyCase {
  std::string name;
  std::string study;
  std::vector<std::pair<std::string, double>> answers;  // measures
  std::string status = "ok";
  double digits = 1e-11;
};

// A homogeneous sphere on a horizontal plane with friction.
inline std::string sphere_on_plane(const std::string& radius, const std::string& start,
                                   const std::string& surface, const std::string& friction,
                                   const std::string& rest) {
  return "[parameters]\nR = " + radius +
         "\n[[body]]\nname = \"ball\"\nmass = 1\ninertia = [\"0.4*R^2\", \"0.4*R^2\", \"0.4*R^2\"]\n" +
         start +
         "shape = { sphere = \"R\" }\n[[surface]]\nname = \"floor\"\npoint = [0, 0, 0]\nnormal = [0, 0, "
         "1]\n" +
         surface + "[[contact]]\nname = \"touch\"\nbetween = [\"ball\", \"floor\"]\nfriction = " + friction +
         "\n[system]\ngravity = [0, 0, -9.81]\n" + rest;
}

// A uniform rod of length 2 and mass 1, its ends a (lower) and b, at an angle from the horizontal.
inline std::string planar_rod(const std::string& position, const std::string& angle,
                              const std::string& velocity, const std::string& spin, const std::string& rest) {
  return "[[body]]\nname = \"rod\"\nmass = 1\ninertia = \"1/3\"\nposition = " + position + "\nangle = \"" +
         angle + "\"\nvelocity = " + velocity + "\nangular_velocity = " + spin +
         "\npoints = { a = [-1, 0], b = [1, 0] }\n[system]\ngravity = [0, -9.81]\n" + rest;
}

// A box 0.6 wide and 1 high on an incline, in axes along and across it.
inline BodyCase box_on_incline(const std::string& name, const std::string& alpha, const std::string& mu,
                               double x, double y, double phi) {
  return {"F_box_" + name,
          "[parameters]\nalpha = " + alpha + "\nmu = " + mu + R"toml(
[[body]]
name = "box"
mass = 1
inertia = "(0.36 + 1)/12"
position = [0, 0.5]
points = { l = [-0.3, -0.5], r = [0.3, -0.5] }
shape = { corners = ["l", "r"] }
[[surface]]
name = "floor"
point = [0, 0]
normal = [0, 1]
[[contact]]
name = "touch"
between = ["box", "floor"]
friction = "mu"
[system]
gravity = ["9.81*sin(alpha)", "-9.81*cos(alpha)"]
[time]
end = 1e-4
[measure]
x = "final(box.x')/1e-4"
y = "final(box.y')/1e-4"
phi = "final(box.angle')/1e-4"
)toml",
          {{"x", x}, {"y", y}, {"phi", phi}},
          "ok",
          1e-3};
}

inline std::vector<BodyCase> free_body_cases() {
  return {
      {"B_physical_pendulum",
       R"toml(
[[body]]
name = "rod"
mass = 1
inertia = "1/3"
position = ["sin(2.5)", "-cos(2.5)"]
angle = 2.5
points = { top = [0, 1] }
[[anchor]]
name = "o"
position = [0, 0]
[[link]]
name = "pin"
type = "hinge"
between = ["rod.top", "o"]
[system]
gravity = [0, -9.81]
[[event]]
name = "bottom"
when = "rod.angle"
[time]
end = 3
[measure]
period = "4*first(event(bottom))"
angle = "final(rod.angle)"
rate = "final(rod.angle')"
x = "final(rod.x)"
y = "final(rod.y)"
)toml",
       {{"period", 3.80581473951369584},
        {"angle", 0.730946464964533565},
        {"rate", 4.76914846437668027},
        {"x", 0.667574617673156655},
        {"y", -0.744542899931588038}}},
      {"B_euler_top",
       R"toml(
[[body]]
name = "top"
mass = 1
inertia = [1, 2, 3]
position = [0, 0, 0]
angular_velocity = [1, 0.5, 1]
[time]
end = 5
[measure]
wx = "final(top.wx)"
wy = "final(top.wy)"
wz = "final(top.wz)"
q0 = "final(top.q0)"
q1 = "final(top.q1)"
q2 = "final(top.q2)"
q3 = "final(top.q3)"
energy = "final(2*kinetic())"
Lx = "final(top.momentum.x)"
Ly = "final(top.momentum.y)"
Lz = "final(top.momentum.z)"
)toml",
       {{"wx", 0.32538651016999912},
        {"wy", -1.06963714361431422},
        {"wz", 0.837829811875222254},
        {"q0", -0.867350825143052874},
        {"q1", 0.48663832218677697},
        {"q2", -0.0999249556113246845},
        {"q3", -0.0300115435954028007},
        {"energy", 4.5},
        {"Lx", 1},
        {"Ly", 1},
        {"Lz", 3}}},
      {"B_lagrange_top",
       R"toml(
[[body]]
name = "top"
mass = 1
inertia = [0.05, 0.05, 0.02]
position = [0, "-0.5*sin(0.5)", "0.5*cos(0.5)"]
orientation = { axis = [1, 0, 0], angle = 0.5 }
angular_velocity = [0, 0, 60]
points = { tip = [0, 0, -0.5] }
[[anchor]]
name = "o"
position = [0, 0, 0]
[[link]]
name = "pivot"
type = "ball"
between = ["top.tip", "o"]
[system]
gravity = [0, 0, -9.81]
[time]
end = 0.713669952931229945
[measure]
tilt = "final(acos(top.ez.z))"
x = "final(top.ez.x)"
y = "final(top.ez.y)"
z = "final(top.ez.z)"
)toml",
       {{"tilt", 2.15239850767551032},
        {"x", 0.795144610796379906},
        {"y", 0.256797401912571667},
        {"z", -0.549363397299480312}}},
      {"B_coin_steady",
       R"toml(
[parameters]
R = 0.5
tilt = "pi/3"
turning = -2
spin = 3.60920409383348583
[[body]]
name = "coin"
mass = 1
inertia = ["R^2/4", "R^2/4", "R^2/2"]
position = [0, 0, "R*sin(tilt)"]
orientation = { axis = [1, 0, 0], angle = "tilt" }
velocity = ["-R*spin", 0, 0]
angular_velocity = [0, "turning*sin(tilt)", "spin"]
shape = { disc = "R" }
[[surface]]
name = "floor"
point = [0, 0, 0]
normal = [0, 0, 1]
[[contact]]
name = "touch"
between = ["coin", "floor"]
[[link]]
name = "roll"
type = "rolling"
between = ["coin", "floor"]
[system]
gravity = [0, 0, -9.81]
[time]
end = 2
[measure]
x = "final(coin.x)"
y = "final(coin.y)"
z = "final(coin.z)"
axis = "final(coin.ez.z)"
)toml",
       {{"x", 0.682863666072193025}, {"y", 1.49208433154064421}, {"z", 0.433012701892219323}, {"axis", 0.5}}},
  };
}

inline std::vector<BodyCase> touching_body_cases() {
  const std::string bounce = R"toml(
[[body]]
name = "ball"
mass = 2
inertia = 0.2
position = [0, 0.5]
velocity = [3, -4]
angular_velocity = 2
shape = { disc = 0.5 }
[[surface]]
name = "floor"
point = [0, 0]
normal = [0, 1]
[[contact]]
name = "touch"
between = ["ball", "floor"]
restitution = 0.8
friction = MU
[time]
end = 0.1
[measure]
x = "final(ball.x')"
y = "final(ball.y')"
spin = "final(ball.angle')"
normal = "total(impulse(touch))"
along = "total(friction_impulse(touch))"
)toml";
  const auto with = [](std::string text, const std::string& mu) {
    return text.replace(text.find("MU"), 2, mu);
  };
  const auto cradle = [](const std::string& pitch) {
    std::string text;
    for (const char* k : {"0", "1", "2"})
      text += std::string("[[body]]\nname = \"b") + k + "\"\nmass = 1\ninertia = 1\nposition = [\"" + k +
              "*" + pitch + "\", 0]\nvelocity = [" + (*k == '0' ? "1" : "0") +
              ", 0]\nshape = { disc = 0.5 }\n";
    for (const char* pair : {"01", "12"})
      text += std::string("[[contact]]\nname = \"c") + pair + "\"\nbetween = [\"b" + pair[0] + "\", \"b" +
              pair[1] + "\"]\nrestitution = 1\nfriction = 0.3\n";
    return text +
           "[time]\nend = 2\n[measure]\na = \"final(b0.x')\"\nb = \"final(b1.x')\"\nc = \"final(b2.x')\"\n" +
           "spin = \"final(abs(b0.angle') + abs(b1.angle') + abs(b2.angle'))\"\n";
  };
  const std::string roll = R"toml([time]
end = 3
[measure]
t = "first(sticks(touch))"
x = "at(sticks(touch), ball.x)"
y = "at(sticks(touch), ball.y)"
vx = "at(sticks(touch), ball.x')"
vy = "at(sticks(touch), ball.y')"
wx = "final(ball.spin.x)"
wy = "final(ball.spin.y)"
wz = "final(ball.spin.z)"
x3 = "final(ball.x)"
y3 = "final(ball.y)"
)toml";
  return {
      {"F_ball_bounce_stick",
       with(bounce, "0.4"),
       {{"x", 1.85714285714285714},
        {"y", 3.2},
        {"spin", -3.71428571428571429},
        {"normal", 14.4},
        {"along", 2.28571428571428571}}},
      {"F_ball_bounce_slip",
       with(bounce, "0.1"),
       {{"x", 2.28}, {"y", 3.2}, {"spin", -1.6}, {"normal", 14.4}, {"along", 1.44}}},
      {"B_cradle_touching", cradle("1"), {{"a", -1.0 / 3}, {"b", 2.0 / 3}, {"c", 2.0 / 3}, {"spin", 0}}},
      {"B_cradle_gaps", cradle("1.5"), {{"a", 0}, {"b", 0}, {"c", 1}, {"spin", 0}}},
      {"F_bowling_without_spin",
       sphere_on_plane("0.11", "position = [0, 0, \"R\"]\nvelocity = [8, 0, 0]\n", "", "0.2", roll),
       {{"t", 1.16499199068006407}, {"x", 7.98851650752043937}, {"vx", 5.71428571428571429}}},
      {"F_bowling_with_spin",
       sphere_on_plane("0.11",
                       "position = [0, 0, \"R\"]\nvelocity = [8, 0, 0]\nangular_velocity = [20, -10, 5]\n",
                       "", "0.2", roll),
       {{"t", 1.36335486688778721},
        {"x", 9.13447760814817433},
        {"y", -0.428482958164733124},
        {"vx", 5.4},
        {"vy", -0.628571428571428571},
        {"wx", 5.71428571428571429},
        {"wy", 49.0909090909090909},
        {"wz", 5},
        {"x3", 17.9723613269541234},
        {"y3", -1.45723132754955259}},
       "ok",
       3e-11},  // a slip in space ends where the time resolves it: 1.4e-10 m/s of 16, 2e-11 s
      {"B_ball_turntable",
       sphere_on_plane(
           "0.1", "position = [0.5, 0, \"R\"]\nvelocity = [0.2, 0.4, 0]\nangular_velocity = [11, 2, 0]\n",
           "turning = { rate = 3, about = [0, 0, 0] }\n", "0.3", R"toml([time]
end = 10
[measure]
x = "final(ball.x)"
y = "final(ball.y)"
vx = "final(ball.x')"
vy = "final(ball.y')"
force = "final(friction(touch))"
)toml"),
       {{"x", -0.0976692186789987348},
        {"y", 0.738368533679287886},
        {"vx", -0.432887314582246759},
        {"vy", -0.112287901724856058},
        {"force", 0.383325938999963948}}},
      {"F_ladder",
       planar_rod("[\"cos(pi/3)\", \"sin(pi/3)\"]", "2*pi/3", "[0, 0]", "0", R"toml([[surface]]
name = "floor"
point = [0, 0]
normal = [0, 1]
[[constraint]]
name = "ground"
require = "rod.a.y >= 0"
friction = 0.2
[[constraint]]
name = "wall"
require = "rod.b.x >= 0"
friction = 0.1
[[event]]
name = "half"
when = "t - 0.5"
[time]
end = 0.777784035853035136
[measure]
theta = "at(event(half), pi - rod.angle)"
rate = "at(event(half), -rod.angle')"
N_floor = "initial(multiplier(ground))"
N_wall = "initial(multiplier(wall))"
leaves = "final(pi - rod.angle)"
)toml"),
       {{"theta", 0.874882605702838145},
        {"rate", -0.818085757744426461},
        {"N_floor", 8.96084662274839173},
        {"N_wall", 2.78122399134437063},
        {"leaves", 0.50638566386808839}}},
      box_on_incline("stick", "0.4", "0.5", 0, 0, 0),
      box_on_incline("slide", "0.5", "0.4", 1.25953056084940889, 0, 0),
      box_on_incline("tip", "0.7", "1", 1.00252632212054248, 0.601515793272325487, -2.00505264424108496),
      box_on_incline("tip_slide", "0.9", "0.65", 3.4398491808929089, 0.432141292115094212,
                     -1.44047097371698071),
  };
}

}  // namespace zwang
