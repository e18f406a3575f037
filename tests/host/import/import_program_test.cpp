// `zwang import` as a process, and the examples on both backends.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "host/import/import_study.h"
#include "tests/support/imported.h"
#include "tests/support/run_program.h"
#include "tests/support/scratch.h"

namespace zwang::import_program_test {
namespace {

using ImportArguments = std::vector<std::string>;

bool mentions(const std::vector<std::string>& list, const std::string& piece) {
  for (const std::string& text : list)
    if (text.find(piece) != std::string::npos) return true;
  return false;
}

TEST(ImportProgram, WritesAStudyAndNamesWhatItLeftOut) {
  const Scratch scratch;
  const ProgramRun made = run_program(scratch.path(), {"import", example_path("hopper.xml")});
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_TRUE(made.out.starts_with("hopper.toml\n\nMJCF: 4 bodies in the plane")) << made.out;
  const std::string study = read_text(scratch.path() / "hopper.toml");
  for (const char* piece :
       {"<actuator> with motor 3 times", "<camera>", "attribute margin of <geom>", "<asset>"}) {
    EXPECT_NE(made.out.find(piece), std::string::npos) << piece;
    EXPECT_NE(study.find(piece), std::string::npos) << piece;
  }
  // Nothing is overwritten unless that is asked for.
  const ProgramRun again = run_program(scratch.path(), {"import", example_path("hopper.xml")});
  EXPECT_EQ(again.code, 1);
  EXPECT_NE(again.err.find("the file exists already"), std::string::npos);
  EXPECT_EQ(run_program(scratch.path(), {"import", example_path("hopper.xml"), "--overwrite"}).code, 0);
}

TEST(ImportProgram, PrintsJson) {
  const Scratch scratch;
  const ProgramRun made =
      run_program(scratch.path(), {"import", example_path("arm.urdf"), "--out", "a.toml", "--json"});
  EXPECT_EQ(made.code, 0) << made.err;
  const nlohmann::json json = nlohmann::json::parse(made.out);
  EXPECT_EQ(json["study"], "a.toml");
  EXPECT_EQ(json["format"], "URDF");
  EXPECT_EQ(json["bodies"], 6);
  EXPECT_EQ(json["planar"], false);
  EXPECT_TRUE(mentions(json["left_out"], "attribute effort of <limit>"));
  EXPECT_TRUE(mentions(json["notes"], "'tool' is fixed to 'wrist_3'"));
  const ProgramRun wrong = run_program(scratch.path(), {"import", "none.urdf", "--json"});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_EQ(nlohmann::json::parse(wrong.out)["errors"][0]["message"], "the file cannot be read");
}

struct ImportExample {
  std::string file;
  ImportArguments options;
};

class ImportedExample : public testing::TestWithParam<ImportExample> {};

TEST_P(ImportedExample, RunsOnBothBackendsAndPassesItsCheck) {
  const Scratch scratch;
  ImportArguments arguments = {"import", example_path(GetParam().file), "--out", "study.toml"};
  arguments.insert(arguments.end(), GetParam().options.begin(), GetParam().options.end());
  const ProgramRun made = run_program(scratch.path(), arguments);
  ASSERT_EQ(made.code, 0) << made.err;
  for (const char* backend : {"reference", "cpu"}) {
    const ProgramRun run =
        run_program(scratch.path(), {"run", "study.toml", "--backend", backend, "--threads", "1", "--out",
                                     backend, "--set", "time.end=2"});
    EXPECT_EQ(run.code, 0) << backend << ": " << run.out << run.err;
  }
  const ProgramRun check =
      run_program(scratch.path(), {"check", "study.toml", "--threads", "1", "--set", "time.end=2"});
  EXPECT_EQ(check.code, 0) << check.out << check.err;
}

INSTANTIATE_TEST_SUITE_P(Examples, ImportedExample,
                         testing::Values(ImportExample{"cart_pole.urdf", {"--joint", "hinge=0.5"}},
                                         ImportExample{"arm.urdf", {}}, ImportExample{"hopper.xml", {}}),
                         [](const testing::TestParamInfo<ImportExample>& test) {
                           return test.param.file.substr(0, test.param.file.find('.'));
                         });

}  // namespace
}  // namespace zwang::import_program_test
