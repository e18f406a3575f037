// Error messages for malformed distributions.
#include "tests/support/malformed.h"

namespace zwang::malformed_distribution_test {
namespace {

const std::vector<Malformed> studies = {
    {"an unknown distribution",
     R"([parameters]
a = { unifrom = [0, 1] }
)",
     ball_and_time,
     R"(study.toml:2:7: error: parameter 'a': unknown key 'unifrom'
  expected: one of: uniform, normal, lognormal, triangular, exponential, choice, grid, file and column
  hint:     did you mean 'uniform'?)"},
    {"two distributions at once",
     R"([parameters]
a = { uniform = [0, 1], normal = { mean = 0, std = 1 } }
)",
     ball_and_time,
     R"(study.toml:2:5: error: parameter 'a': more than one distribution
  found:    uniform and normal
  expected: one distribution)"},
    {"an empty distribution",
     R"([parameters]
a = {}
)",
     ball_and_time,
     R"(study.toml:2:5: error: parameter 'a': not a distribution
  found:    an empty table
  expected: one of: uniform, normal, lognormal, triangular, exponential, choice, grid or file; or sweep = [from, to, count])"},
    {"a uniform distribution backwards",
     R"([parameters]
a = { uniform = [2, 1] }
)",
     ball_and_time,
     R"(study.toml:2:17: error: parameter 'a', uniform: the ends are in the wrong order
  found:    2, 1
  expected: [a, b] with a <= b)"},
    {"a uniform distribution with one end",
     R"([parameters]
a = { uniform = [2] }
)",
     ball_and_time,
     R"(study.toml:2:17: error: parameter 'a', uniform: wrong number of entries
  found:    1
  expected: uniform = [a, b])"},
    {"a uniform distribution that is a table",
     R"([parameters]
a = { uniform = { low = 0, high = 1 } }
)",
     ball_and_time,
     R"(study.toml:2:17: error: parameter 'a', uniform: not an array
  found:    a table
  expected: uniform = [a, b])"},
    {"a negative standard deviation",
     R"([parameters]
s = -1
a = { normal = { mean = 0, std = "s" } }
)",
     ball_and_time,
     R"(study.toml:3:16: error: parameter 'a', normal: a negative standard deviation
  found:    0, -1
  expected: mean, std with std >= 0)"},
    {"a normal distribution without std",
     R"([parameters]
a = { normal = { mean = 0 } }
)",
     ball_and_time,
     R"(study.toml:2:16: error: parameter 'a', normal: 'std' is missing
  expected: a number or a formula for 'std')"},
    {"a lognormal distribution with a misspelt key",
     R"([parameters]
a = { lognormal = { mean = 0, sdt = 1 } }
)",
     ball_and_time,
     R"(study.toml:2:19: error: parameter 'a', lognormal: 'std' is missing
  expected: a number or a formula for 'std'
study.toml:2:31: error: parameter 'a', lognormal: unknown key 'sdt'
  expected: one of: mean and std
  hint:     did you mean 'std'?)"},
    {"a triangle whose top is outside",
     R"([parameters]
a = { triangular = [0, 3, 2] }
)",
     ball_and_time,
     R"(study.toml:2:20: error: parameter 'a', triangular: the numbers are in the wrong order
  found:    0, 3, 2
  expected: [a, m, b] with a <= m <= b)"},
    {"an exponential distribution without a positive mean",
     R"([parameters]
a = { exponential = { mean = 0 } }
)",
     ball_and_time,
     R"(study.toml:2:21: error: parameter 'a', exponential: the mean is not positive
  found:    0
  expected: mean > 0)"},
    {"an empty choice",
     R"([parameters]
a = { choice = [] }
)",
     ball_and_time,
     R"(study.toml:2:16: error: parameter 'a', choice: wrong number of entries
  found:    0
  expected: choice = [..])"},
    {"a choice of words",
     R"([parameters]
a = { choice = ["red", "green"] }
)",
     ball_and_time,
     R"(study.toml:2:18: error: parameter 'a', choice entry 1: unknown name 'red'
  found:    red
  expected: a name defined in this study
study.toml:2:25: error: parameter 'a', choice entry 2: unknown name 'green'
  found:    green
  expected: a name defined in this study)"},
    {"a grid of no points",
     R"([parameters]
a = { grid = [0, 1, 0] }
)",
     ball_and_time,
     R"(study.toml:2:21: error: parameter 'a', grid entry 3: out of range
  found:    0
  expected: a whole number from 1 to 1000000000000)"},
    {"a grid of half a point",
     R"([parameters]
a = { grid = [0, 1, 2.5] }
)",
     ball_and_time,
     R"(study.toml:2:21: error: parameter 'a', grid entry 3: not a whole number
  found:    2.5
  expected: a whole number from 1 to 1000000000000)"},
    {"an infinite end",
     R"([parameters]
a = { uniform = [0, inf] }
)",
     ball_and_time,
     R"(study.toml:2:21: error: parameter 'a', uniform entry 2: not a finite number
  found:    inf
  expected: a finite number, or a formula in quotes)"},
    {"a column without a file",
     R"([parameters]
a = { uniform = [0, 1], column = "x" }
)",
     ball_and_time,
     R"(study.toml:2:34: error: parameter 'a', column: only a file has columns
  found:    "x"
  expected: no column, or file = "...")"},
    {"a file without a column",
     R"([parameters]
a = { file = "states.csv" }
)",
     ball_and_time,
     R"(study.toml:2:5: error: parameter 'a': 'column' is missing
  expected: the name of a column of the file)"},
    {"a distribution that uses a later parameter",
     R"([parameters]
a = { uniform = [0, "b"] }
b = 1
)",
     ball_and_time,
     R"(study.toml:2:22: error: parameter 'a', uniform entry 2: 'b' is defined later
  found:    b
  expected: parameters defined before this one
  hint:     parameters are read from top to bottom)"},
    {"grids and members that do not agree",
     R"([parameters]
a = { grid = [0, 1, 3] }
b = { grid = [0, 1, 4] }
[ensemble]
members = 13
)",
     ball_and_time,
     R"(study.toml:5:11: error: [ensemble] members: not the number of points of the grids
  found:    13
  expected: 12: the product of all grids
  hint:     leave it out: the grids determine it)"},
    {"grids, the nominal member and members that do not agree",
     R"([parameters]
a = { grid = [0, 1, 3] }
[ensemble]
members = 3
include_nominal = true
)",
     ball_and_time,
     R"(study.toml:4:11: error: [ensemble] members: not the number of points of the grids
  found:    3
  expected: 4: the product of all grids, and the nominal member
  hint:     leave it out: the grids determine it)"},
    {"a distribution as a mass",
     R"([[point]]
name = "a"
mass = { uniform = [1, 2] }
position = [0, 0]
)",
     ball_and_time,
     R"(study.toml:3:8: error: point 'a', mass: neither a number nor a formula
  found:    a table
  expected: a number, or a formula in quotes
  hint:     give a distribution a name in [parameters], and write that name here)"},
    {"a nominal member that cannot be drawn",
     R"([parameters]
s = { uniform = [-2, -1] }
a = { normal = { mean = 0, std = "s" } }
)",
     ball_and_time,
     R"(study.toml: error: 'a' of the nominal member: invalid arguments of its distribution
  found:    normal = { mean = 0, std = -1.5 }
  expected: finite mean and std, std >= 0)"},
    {"a joint with a matrix of the wrong size",
     R"([[joint]]
names = ["a", "b"]
mean = [0, 0, 0]
covariance = [[1, 0], [0]]
)",
     ball_and_time,
     R"(study.toml:3:8: error: joint number 1, mean: wrong number of entries
  found:    3
  expected: 2 numbers, one for each name
study.toml:4:23: error: joint number 1, covariance entry 2: wrong number of entries
  found:    1
  expected: 2 numbers, one for each name)"},
    {"a covariance that is not symmetric",
     R"([[joint]]
names = ["a", "b"]
mean = [0, 0]
covariance = [[1, 0.5], [0.4, 1]]
)",
     ball_and_time,
     R"(study.toml:4:14: error: joint number 1, covariance: not symmetric
  found:    0.5 in row 1, 0.4 in row 2
  expected: the covariance of 'a' and 'b' the same in both rows)"},
    {"a covariance with a negative eigenvalue",
     R"([[joint]]
names = ["a", "b"]
mean = [0, 0]
covariance = [[1, 2], [2, 1]]
)",
     ball_and_time,
     R"(study.toml:4:14: error: joint number 1, covariance: not a covariance
  found:    an eigenvalue of about -1
  expected: no negative eigenvalue)"},
    {"a joint without names",
     R"([[joint]]
mean = [0]
covariance = [[1]]
)",
     ball_and_time,
     R"(study.toml:1:1: error: joint number 1: 'names' is missing
  expected: the names of the parameters)"},
    {"a parameter drawn twice",
     R"([parameters]
a = { uniform = [0, 1] }
[[joint]]
names = ["a"]
mean = [0]
covariance = [[1]]
)",
     ball_and_time,
     R"(study.toml:2:5: error: parameter 'a': also drawn by a [[joint]]
  found:    a table
  expected: a plain number, which the joint replaces, or no entry)"},
    {"a parameter that uses a joint drawn after it",
     R"([parameters]
m = 1
c = "2*a"
[[joint]]
names = ["a"]
mean = ["m"]
covariance = [[1]]
)",
     ball_and_time,
     R"(study.toml:3:8: error: parameter 'c': 'a' is drawn by a [[joint]] with formulas, after all of [parameters]
  found:    a
  expected: parameters defined before this one
  hint:     a joint of plain numbers is drawn before [parameters])"},
    {"a name in two joints",
     R"([[joint]]
names = ["a"]
mean = [0]
covariance = [[1]]
[[joint]]
names = ["a"]
mean = [0]
covariance = [[1]]
)",
     ball_and_time,
     R"(study.toml:6:10: error: joint parameter 'a': the name is taken
  found:    'a'
  expected: a name that is not used yet
  hint:     it is already the name of joint parameter 'a' on line 2)"},
};

INSTANTIATE_TEST_SUITE_P(Distributions, MalformedStudy, testing::ValuesIn(studies), malformed_name);

}  // namespace
}  // namespace zwang::malformed_distribution_test
