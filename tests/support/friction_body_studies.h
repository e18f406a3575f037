// Studies of planar bodies and of a sphere with friction, written by coordinates.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace zwang {

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

}  // namespace zwang
