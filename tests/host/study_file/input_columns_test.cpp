// Columns of numbers in place of parameters and draws: the study of a CSV file with the same numbers.
#include "host/study_file/input_columns.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "host/sample/csv_inputs.h"
#include "host/study/study.h"
#include "host/study_file/load_study.h"
#include "host/study_file/write_study.h"
#include "src/base/error.h"

namespace zwang::input_columns_test {

namespace {

const std::string columns_study = R"(
[parameters]
L = 2
k = { uniform = [0, 1] }

[[joint]]
names = ["u", "v"]
mean = [0, 0]
covariance = [[1, 0], [0, 1]]

[[point]]
name = "p"
mass = "1 + k"
position = [0, "-L"]

[[coordinate]]
name = "a"
position = { normal = { mean = 0, std = 1 } }

[system]
kinetic = "0.5*a'^2"

[[constraint]]
name = "rope"
require = "p.x^2 + p.y^2 <= 100*L^2"

[time]
end = 1

[ensemble]
members = 7
)";

Study with_columns(const std::vector<InputColumn>& columns, const std::vector<std::string>& overrides = {}) {
  return read_study(columns_study, "study.toml", overrides, columns);
}

const ParameterRule& rule_of(const Study& study, const std::string& name) {
  for (const ParameterRule& rule : study.parameters)
    if (rule.name == name) return rule;
  throw std::runtime_error("no parameter " + name);
}

std::string refused(const std::vector<InputColumn>& columns) {
  try {
    with_columns(columns);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST(InputColumns, ReplaceParametersDrawsAndNumbersInPlace) {
  const std::vector<double> rows = {1, 2, 3};
  const Study study = with_columns({{"L", rows},
                                    {"p.x", rows},
                                    {"p.y'", rows},
                                    {"a", rows},
                                    {"a'", rows},
                                    {"rope.restitution", {0, 0.5, 1}}});
  EXPECT_EQ(study.ensemble.members, 3);
  for (const char* name : {"L", "p.x", "p.y'", "a", "a'"}) {
    const ParameterRule& rule = rule_of(study, name);
    ASSERT_TRUE(rule.distribution) << name;
    EXPECT_EQ(rule.distribution->kind, Distribution::Kind::file) << name;
    EXPECT_EQ(rule.distribution->file_values, rows) << name;
  }
  EXPECT_EQ(rule_of(study, "rope.restitution").distribution->file_values[1], 0.5);
  EXPECT_TRUE(rule_of(study, "u").joint);
}

TEST(InputColumns, AreReadFromInputsCsvByTheStudyAsRun) {
  const Study study = with_columns({{"L", {1.5, 1.25}}, {"k", {0.1, 0.2}}});
  const std::string text = study_as_run(study);
  EXPECT_NE(text.find("L = { file = \"inputs.csv\", column = \"L\" }"), std::string::npos) << text;
  EXPECT_EQ(CsvInputs(study).text(), "L,k\n1.5,0.1\n1.25,0.2\n");
  EXPECT_NE(study_text(study).find("inputs.csv"), std::string::npos);
  const Study plain = read_study(columns_study, "study.toml", {});
  EXPECT_EQ(study_text(plain), columns_study);
}

TEST(InputColumns, ReplaceAJointWholeOrNotAtAll) {
  const Study study = with_columns({{"u", {1, 2}}, {"v", {3, 4}}});
  EXPECT_TRUE(study.joints.empty());
  EXPECT_EQ(rule_of(study, "v").distribution->file_values, (std::vector<double>{3, 4}));
  EXPECT_NE(refused({{"u", {1, 2}}}).find("[[joint]]"), std::string::npos);
}

TEST(InputColumns, GiveTheNumberOfMembersUnlessItIsSet) {
  const std::vector<double> rows(20, 1.0);
  EXPECT_EQ(with_columns({{"L", rows}}).ensemble.members, 20);
  EXPECT_EQ(with_columns({{"L", rows}}, {"ensemble.members=5"}).ensemble.members, 5);
  const Study swept = with_columns({{"L", rows}}, {"parameters.k={ sweep = [0, 1, 3] }"});
  EXPECT_EQ(swept.ensemble.members, 60);
  EXPECT_EQ(swept.ensemble.per_point(), 20);
}

TEST(InputColumns, ThatAreWrongAreRefusedByName) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(refused({{"L", {1, nan}}}).find("row 1 of column 'L'"), std::string::npos);
  EXPECT_NE(refused({{"L", {1, 2}}, {"k", {1}}}).find("another length"), std::string::npos);
  EXPECT_NE(refused({{"L", {}}}).find("empty"), std::string::npos);
  EXPECT_NE(refused({{"L", {1}}, {"L", {1}}}).find("twice"), std::string::npos);
  EXPECT_NE(refused({{"p.z", {1}}}).find("no draw of this name"), std::string::npos);
  EXPECT_NE(refused({{"p.xx", {1}}}).find("did you mean 'p.x'"), std::string::npos);
}

TEST(InputColumns, CannotBeNamedByAStudyAlone) {
  EXPECT_THROW(
      read_study(columns_study, "study.toml", {"parameters.L={ file = \"inputs=\", column = \"L\" }"}),
      Error);
}

}  // namespace zwang::input_columns_test
