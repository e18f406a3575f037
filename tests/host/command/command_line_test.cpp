// The command line: help with examples, suggestions for misspelt names, completion, and the embedded studies.
#include <gtest/gtest.h>

#include "host/platform/colour.h"
#include "tests/support/run_program.h"

namespace zwang::command_line_test {
namespace {

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// The commands listed by --help.
std::vector<std::string> commands(const std::string& help) {
  std::vector<std::string> made;
  std::size_t at = help.find("Subcommands:");
  while ((at = help.find("\n  ", at)) != std::string::npos) {
    at += 3;
    if (help[at] != ' ' && help.find("Examples", at) != std::string::npos)
      made.push_back(help.substr(at, help.find(' ', at) - at));
  }
  return made;
}

TEST(CommandLine, HelpOfEveryCommandHasTwoExamples) {
  const Scratch scratch;
  const std::vector<std::string> names = commands(run_program(scratch.path(), {"--help"}).out);
  EXPECT_GE(names.size(), 11u);
  for (const std::string& name : names) {
    const ProgramRun made = run_program(scratch.path(), {name, "--help"});
    EXPECT_EQ(made.code, 0);
    EXPECT_GE(count_of(made.out, "\n  zwang " + name) + count_of(made.out, "<(zwang " + name), 2u)
        << made.out;
  }
}

TEST(CommandLine, AnOptionThatIsNearlyRightIsSuggested) {
  const Scratch scratch;
  const ProgramRun made = run_program(scratch.path(), {"run", "x.toml", "--membrs", "3"});
  EXPECT_EQ(made.code, 1);
  EXPECT_NE(made.err.find("did you mean '--members'?"), std::string::npos) << made.err;
}

TEST(CommandLine, ACommandThatIsNearlyRightIsSuggested) {
  const Scratch scratch;
  const ProgramRun made = run_program(scratch.path(), {"repot", "x"});
  EXPECT_EQ(made.code, 1);
  EXPECT_NE(made.err.find("did you mean 'report'?"), std::string::npos) << made.err;
}

TEST(CommandLine, TooManyWordsAreNamed) {
  const Scratch scratch;
  const ProgramRun made = run_program(scratch.path(), {"run", "x.toml", "surplus"});
  EXPECT_EQ(made.code, 1);
  EXPECT_NE(made.err.find("surplus"), std::string::npos) << made.err;
}

TEST(CommandLine, WithoutACommandHelpIsPrinted) {
  const Scratch scratch;
  const ProgramRun made = run_program(scratch.path(), {});
  EXPECT_EQ(made.code, 1);
  EXPECT_NE(made.out.find("Subcommands:"), std::string::npos) << made.out;
}

TEST(CommandLine, TheOptionsOfRunAreGrouped) {
  const Scratch scratch;
  const std::string help = run_program(scratch.path(), {"run", "--help"}).out;
  for (const char* title : {"Ensemble:", "Machine:", "Output:"})
    EXPECT_NE(help.find(title), std::string::npos) << title << " in\n" << help;
}

TEST(CommandLine, AListedStudyIsRunByItsName) {
  const Scratch scratch;
  const ProgramRun made =
      run_program(scratch.path(), {"run", "bouncing_ball", "--backend", "reference", "--quiet"});
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_TRUE(std::filesystem::exists(scratch.path() / "results/bouncing_ball/summary.json"));
  EXPECT_NE(run_program(scratch.path(), {"explain", "ostrogradsky"}).out.find("Source: Mayer 1899 I"),
            std::string::npos);
  const std::string misspelt = run_program(scratch.path(), {"run", "bouncing_bal"}).err;
  EXPECT_NE(misspelt.find("did you mean 'bouncing_ball'?"), std::string::npos) << misspelt;
  const std::string ending = run_program(scratch.path(), {"run", "bouncing_ball.toml"}).err;
  EXPECT_NE(ending.find("without .toml"), std::string::npos) << ending;
}

// A file of the same name comes first.
TEST(CommandLine, AFileHidesAListedStudyOfItsName) {
  const Scratch scratch;
  write_text(scratch.path() / "bouncing_ball", "nonsense");
  const ProgramRun made = run_program(scratch.path(), {"run", "bouncing_ball"});
  EXPECT_NE(made.err.find("not valid TOML"), std::string::npos) << made.err;
}

TEST(CommandLine, SwappedLettersAreRecognised) {
  const Scratch scratch;
  EXPECT_NE(run_program(scratch.path(), {"rnu", "x"}).err.find("did you mean 'run'?"), std::string::npos);
}

TEST(CommandLine, ListHasTopicAndSource) {
  const Scratch scratch;
  const std::string shown = run_program(scratch.path(), {"list"}).out;
  EXPECT_TRUE(shown.starts_with("study ")) << shown.substr(0, 80);
  const std::size_t at = shown.find("\nstring_jerk ");
  const std::string line = shown.substr(at + 1, shown.find('\n', at + 1) - at - 1);
  EXPECT_NE(line.find("shocks and impulses"), std::string::npos) << line;
  EXPECT_NE(line.find("Mayer 1899 II "), std::string::npos) << line;
}

// Every command and several options, in the manual page and in the completion scripts.
TEST(CommandLine, ManualPageAndCompletionsHaveEveryCommand) {
  const Scratch scratch;
  const std::string page = run_program(scratch.path(), {"man"}).out,
                    zsh = run_program(scratch.path(), {"completion", "zsh"}).out,
                    fish = run_program(scratch.path(), {"completion", "fish"}).out;
  EXPECT_TRUE(zsh.starts_with("#compdef zwang\n"));
  EXPECT_NE(page.find("\n.TH ZWANG 1"), std::string::npos);
  for (const std::string& name : commands(run_program(scratch.path(), {"--help"}).out)) {
    EXPECT_NE(page.find(".SS zwang " + name), std::string::npos) << name;
    EXPECT_NE(zsh.find("\n    '" + name + ":"), std::string::npos) << name;
    EXPECT_NE(fish.find(" -a " + name + " "), std::string::npos) << name;
  }
  for (const std::string option : {"members", "threads", "yes", "latex", "reverse", "clear"}) {
    EXPECT_NE(page.find("\\-\\-" + option), std::string::npos) << option;
    EXPECT_NE(zsh.find("'--" + option + "["), std::string::npos) << option;
    EXPECT_NE(fish.find(" -l " + option + " "), std::string::npos) << option;
  }
  EXPECT_EQ(run_program(scratch.path(), {"completion", "tcsh"}).code, 1);
}

// Where these shells are installed they read their scripts without an error.
TEST(CommandLine, CompletionScriptsAreWellFormed) {
  const Scratch scratch;
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const std::string path = (scratch.path() / shell).string();
    write_text(path, run_program(scratch.path(), {"completion", shell}).out);
    if (std::system(("command -v " + shell + " > /dev/null").c_str()) != 0) continue;
    EXPECT_EQ(std::system((shell + " -n '" + path + "'").c_str()), 0) << shell;
  }
}

TEST(CommandLine, ModesLookWhereTheyAreTold) {
  const Scratch scratch;
  write_text(scratch.path() / "pendulum.toml",
             "[[coordinate]]\nname = \"a\"\nposition = 2\n[system]\nkinetic = \"0.5*a'^2\"\npotential = "
             "\"-9.81*cos(a)\"\n[time]\nend = 1\n");
  const std::string start = run_program(scratch.path(), {"modes", "pendulum.toml"}).out,
                    hanging = run_program(scratch.path(), {"modes", "pendulum.toml", "--near", "a=0.1"}).out;
  EXPECT_NE(start.find("unstable"), std::string::npos) << start;
  EXPECT_EQ(hanging.find("unstable"), std::string::npos) << hanging;
  const ProgramRun wrong = run_program(scratch.path(), {"modes", "pendulum.toml", "--near", "b=0"});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_NE(wrong.err.find("there is no coordinate of that name"), std::string::npos) << wrong.err;
}

TEST(CommandLine, ExplainSimplifiesAndWritesLatex) {
  const Scratch scratch;
  const std::string plain = run_program(scratch.path(), {"explain", "slung_load"}).out;
  EXPECT_NE(plain.find("M[load.x, load.x] = mass\n"), std::string::npos) << plain;
  EXPECT_NE(plain.find("Phi = A M^-1 A^T"), std::string::npos) << plain;
  const std::string latex = run_program(scratch.path(), {"explain", "slung_load", "--latex"}).out;
  EXPECT_NE(latex.find("\\begin{align*}"), std::string::npos) << latex;
  EXPECT_NE(latex.find("M_{x_{\\mathrm{load}},x_{\\mathrm{load}}} &= \\mathrm{mass}"), std::string::npos)
      << latex;
  EXPECT_EQ(count_of(latex, "{"), count_of(latex, "}"));
}

TEST(CommandLine, VersionTellsBuildAndCuda) {
  const Scratch scratch;
  const ProgramRun made = run_program(scratch.path(), {"--version"});
  EXPECT_EQ(made.code, 0);
  EXPECT_TRUE(made.out.starts_with("zwang " ZWANG_VERSION)) << made.out;
  EXPECT_NE(made.out.find("build"), std::string::npos);
  EXPECT_NE(made.out.find("cuda"), std::string::npos);
}

TEST(CommandLine, ListShowsEveryStudyWithItsTitleAndPrintsOne) {
  const Scratch scratch;
  const std::string shown = run_program(scratch.path(), {"list"}).out;
  for (const auto& entry : std::filesystem::directory_iterator(ZWANG_SOURCE_DIR "/configs")) {
    if (entry.path().extension() != ".toml") continue;
    const std::size_t at = shown.find("\n" + entry.path().stem().string() + " ");
    const bool first = shown.starts_with(entry.path().stem().string() + " ");
    ASSERT_TRUE(first || at != std::string::npos) << entry.path();
    const std::string line = shown.substr(first ? 0 : at + 1, shown.find('\n', at + 1) - at - 1);
    EXPECT_GT(line.size(), line.find(' ') + 5) << "no title: " << line;
    EXPECT_EQ(run_program(scratch.path(), {"list", entry.path().stem().string()}).out,
              read_text(entry.path()));
  }
  EXPECT_NE(run_program(scratch.path(), {"list", "slung_lod"}).err.find("slung_load"), std::string::npos);
}

TEST(CommandLine, ANewStudyRunsAndIsNeverOverwritten) {
  const Scratch scratch;
  ASSERT_EQ(run_program(scratch.path(), {"new", "mine"}).code, 0);
  EXPECT_EQ(read_text(scratch.path() / "mine.toml").find("NAME"), std::string::npos);
  const ProgramRun made = run_program(scratch.path(), {"run", "mine.toml", "--members", "20", "--backend",
                                                       "reference", "--quiet", "--report"});
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_TRUE(std::filesystem::exists(scratch.path() / "results/mine/report.html"));
  EXPECT_EQ(run_program(scratch.path(), {"new", "mine"}).code, 1);
  EXPECT_EQ(run_program(scratch.path(), {"new", "../mine"}).code, 1);
  ASSERT_EQ(run_program(scratch.path(), {"new", "crane", "--from", "crane_slings"}).code, 0);
  EXPECT_EQ(read_text(scratch.path() / "crane.toml"),
            read_text(ZWANG_SOURCE_DIR "/configs/crane_slings.toml"));
}

// The words that bash offers to complete a command line.
std::string completed(const Scratch& scratch, const std::string& words, int at) {
  const std::string script = "source <('" ZWANG_PROGRAM "' completion); COMP_WORDS=(" + words +
                             "); COMP_CWORD=" + std::to_string(at) +
                             "; _zwang zwang; echo \"${COMPREPLY[@]}\"";
  write_text(scratch.path() / "ask.sh", script);
  const std::string out = (scratch.path() / "out").string();
  EXPECT_EQ(std::system(("cd '" + scratch.path().string() + "' && bash ask.sh > '" + out + "'").c_str()), 0);
  return read_text(out);
}

TEST(CommandLine, BashCompletesCommandsOptionsValuesAndStudies) {
  const Scratch scratch;
  write_text(scratch.path() / "mine.toml", "");
  write_text(scratch.path() / "mine.txt", "");
  EXPECT_EQ(completed(scratch, "zwang rep", 1), "replay report\n");
  EXPECT_EQ(completed(scratch, "zwang run --mem", 2), "--members\n");
  EXPECT_EQ(completed(scratch, "zwang run x --backend c", 4), "cpu cuda\n");
  EXPECT_EQ(completed(scratch, "zwang run mi", 2), "mine.toml\n");
}

TEST(CommandLine, ColoursAreForTerminalsAlone) {
  Environment environment;
  environment.set("TERM", "xterm");
  EXPECT_FALSE(colours_wanted(stdin) && isatty(STDIN_FILENO) == 0);
  EXPECT_EQ(coloured_error("x: error: y\n  found:    z", false), "x: error: y\n  found:    z");
  EXPECT_EQ(coloured_error("x: error: y\n  found:    error: z", true),
            "x: \x1b[1;31merror:\x1b[0m y\n  found:    error: z");
  environment.set("NO_COLOR", "1");
  EXPECT_FALSE(colours_wanted(stderr));
}

}  // namespace
}  // namespace zwang::command_line_test
