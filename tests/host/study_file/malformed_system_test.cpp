// Error messages for malformed points, anchors, coordinates, energies, auxiliaries and forces.
#include "tests/support/malformed.h"

namespace zwang::malformed_system_test {
namespace {

const std::vector<Malformed> studies = {
    {"nothing that moves",
     R"(title = "empty"
)",
     time_alone,
     R"(study.toml: error: the study has nothing that can move
  expected: at least one [[point]], [[body]] or [[coordinate]])"},
    {"a point without mass and position",
     R"([[point]]
name = "a"
)",
     ball_and_time,
     R"(study.toml:1:1: error: point 'a': 'mass' is missing
  expected: a number or a formula of parameters
study.toml:1:1: error: point 'a': 'position' is missing
  expected: 1, 2 or 3 numbers: the point's coordinates)"},
    {"a mass that is not positive",
     R"([parameters]
m = -2
[[point]]
name = "a"
mass = "m"
position = [0, 0]
[[point]]
name = "b"
mass = 0
position = [0, 0]
)",
     ball_and_time,
     R"(study.toml:5:8: error: point 'a', mass: a mass must be positive
  found:    -2
  expected: a finite number > 0
study.toml:9:8: error: point 'b', mass: a mass must be positive
  found:    0
  expected: a finite number > 0)"},
    {"a mass that is not positive at the nominal member",
     R"([parameters]
m = { uniform = [-2, 1] }
[[point]]
name = "a"
mass = "m"
position = [0, 0]
)",
     ball_and_time,
     R"(study.toml:5:8: error: point 'a', mass: a mass must be positive
  found:    -0.5 for the nominal member (every distribution at its centre)
  expected: a finite number > 0)"},
    {"a point in four dimensions",
     R"([[point]]
name = "a"
mass = 1
position = [0, 0, 0, 0]
[observe]
x = "a.x"
)",
     ball_and_time,
     R"(study.toml:4:12: error: point 'a', position: wrong number of entries
  found:    4
  expected: 1, 2 or 3 numbers: the point's coordinates)"},
    {"a position that is a number",
     R"~([[point]]
name = "a"
mass = 1
position = 0
[observe]
x = "a.x + distance(a, ball)"
)~",
     ball_and_time,
     R"(study.toml:4:12: error: point 'a', position: not an array
  found:    0
  expected: 1, 2 or 3 numbers: the point's coordinates)"},
    {"a velocity of another dimension",
     R"([[point]]
name = "a"
mass = 1
position = [0, 0]
velocity = [1]
)",
     ball_and_time,
     R"(study.toml:5:12: error: point 'a', velocity: wrong number of entries
  found:    1
  expected: 2 numbers, as many as in position)"},
    {"a position that uses a coordinate",
     R"([[point]]
name = "a"
mass = 1
position = [0, "ball.x"]
)",
     ball_and_time,
     R"(study.toml:4:17: error: point 'a', position entry 2: coordinates cannot be used here
  found:    ball.x
  expected: only numbers and parameters here)"},
    {"an anchor that uses a coordinate",
     R"([[anchor]]
name = "a"
position = [0, "ball.x"]
)",
     ball_and_time,
     R"(study.toml:3:17: error: anchor 'a', position entry 2: coordinates cannot be used here
  found:    ball.x
  expected: only numbers, parameters and t here)"},
    {"an anchor that uses a later anchor",
     R"([[anchor]]
name = "a"
position = [0, "b.x"]
[[anchor]]
name = "b"
position = [0, "a.x"]
)",
     ball_and_time,
     R"(study.toml:3:17: error: anchor 'a', position entry 2: coordinates cannot be used here
  found:    b.x
  expected: only numbers, parameters and t here)"},
    {"a coordinate without a position",
     R"([[coordinate]]
name = "phi"
[system]
kinetic = "phi'^2"
)",
     ball_and_time,
     R"(study.toml:1:1: error: coordinate 'phi': 'position' is missing
  expected: a number, a formula of parameters, or a distribution)"},
    {"a coordinate without kinetic energy",
     R"([[coordinate]]
name = "phi"
position = 0
)",
     ball_and_time,
     R"(study.toml:1:1: error: coordinate 'phi': has no kinetic energy
  expected: a square of phi' in [system] kinetic
  hint:     for a state without inertia use [[auxiliary]])"},
    {"a motion without kinetic energy",
     R"([[coordinate]]
name = "a"
position = 0
[[coordinate]]
name = "b"
position = 0
[system]
kinetic = "0.5*(a' + b')^2"
)",
     ball_and_time,
     R"(study.toml:8:11: error: [system] kinetic: the mass matrix is not positive definite
  found:    a motion of a' and b' without kinetic energy
  expected: kinetic energy > 0 for every motion at the start of the nominal member)"},
    {"a negative kinetic energy",
     R"([[coordinate]]
name = "a"
position = 0
[system]
kinetic = "-0.5*a'^2"
)",
     ball_and_time,
     R"(study.toml:5:11: error: [system] kinetic: the mass matrix is not positive definite
  found:    -1 for the square of a'
  expected: kinetic energy > 0 for every motion at the start of the nominal member)"},
    {"a kinetic energy that is infinite at the start",
     R"([[coordinate]]
name = "a"
position = 0
[system]
kinetic = "0.5*a'^2/a"
)",
     ball_and_time,
     R"(study.toml:5:11: error: [system] kinetic: the mass matrix is not finite
  found:    inf for the square of a'
  expected: kinetic energy > 0 for every motion at the start of the nominal member)"},
    {"a kinetic energy of the third degree",
     R"([[coordinate]]
name = "a"
position = 0
[system]
kinetic = "a'^3"
)",
     ball_and_time,
     R"(study.toml:5:11: error: [system] kinetic: not quadratic in the velocities
  found:    "a'^3"
  expected: at most squares and products of velocities
  hint:     write squares out, as in 0.5*m*(x'^2 + y'^2); abs, sqrt, hypot and speed are not recognised as squares)"},
    {"a kinetic energy that hides its squares",
     R"([system]
kinetic = "0.5*speed(ball)^3"
)",
     ball_and_time,
     R"(study.toml:2:11: error: [system] kinetic: not quadratic in the velocities
  found:    "0.5*speed(ball)^3"
  expected: at most squares and products of velocities
  hint:     write squares out, as in 0.5*m*(x'^2 + y'^2); abs, sqrt, hypot and speed are not recognised as squares)"},
    {"a potential that uses velocities",
     R"([system]
potential = "ball.x'"
)",
     ball_and_time,
     R"(study.toml:2:14: error: [system] potential: velocities cannot be used here
  found:    ball.x'
  expected: only numbers, parameters, t and coordinates here)"},
    {"an auxiliary without a rate",
     R"([[auxiliary]]
name = "p"
initial = 0
)",
     ball_and_time,
     R"(study.toml:1:1: error: auxiliary 'p': 'rate' is missing
  expected: a formula: the time derivative of the state)"},
    {"an auxiliary state with a prime",
     R"([[auxiliary]]
name = "p"
initial = 0
rate = "-p'"
)",
     ball_and_time,
     R"(study.toml:4:10: error: auxiliary 'p', rate: 'p' has no velocity
  found:    p'
  expected: a coordinate before the prime)"},
    {"gravity of another dimension",
     R"([system]
gravity = [0, 0, -9.81]
)",
     ball_and_time,
     R"(study.toml:2:11: error: [system] gravity: wrong number of entries
  found:    3
  expected: as many as every point and body has coordinates of its place; 'ball' has 2)"},
    {"gravity without points",
     R"([[coordinate]]
name = "a"
position = 0
[system]
kinetic = "a'^2"
gravity = [1]
)",
     time_alone,
     R"(study.toml:6:11: error: [system] gravity: gravity acts on points and bodies, and there are none
  found:    an array
  expected: at least one [[point]] or [[body]]
  hint:     for coordinates, write a potential)"},
    {"a force on something that is no coordinate",
     R"([system.force]
"bal.x" = 1
)",
     ball_and_time,
     R"(study.toml:2:1: error: [system.force] "bal.x": not a coordinate
  found:    'bal.x'
  expected: the name of a coordinate
  hint:     did you mean 'ball.x'?)"},
    {"a force on a point",
     R"([system.force]
ball = 1
)",
     ball_and_time,
     R"(study.toml:2:1: error: [system.force] "ball": not a coordinate
  found:    'ball'
  expected: the name of a coordinate
  hint:     a point has one force for each coordinate: "ball.x")"},
    {"a force whose key lacks its quotes",
     R"([system.force]
ball.x = 1
)",
     ball_and_time,
     R"(study.toml:2:1: error: [system.force] "ball": not a coordinate
  found:    'ball'
  expected: the name of a coordinate
  hint:     write a key with a dot in quotes: "ball.x")"},
};

INSTANTIATE_TEST_SUITE_P(Systems, MalformedStudy, testing::ValuesIn(studies), malformed_name);

}  // namespace
}  // namespace zwang::malformed_system_test
