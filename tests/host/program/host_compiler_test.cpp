// Compilation at run time: choice of the compiler, arguments, failures, and that no files are left behind.
#include "host/program/host_compiler.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "host/platform/child_process.h"
#include "host/platform/machine_error.h"
#include "host/program/kernel_text.h"
#include "host/program/loaded_program.h"
#include "tests/support/scratch.h"

namespace zwang::host_compiler_test {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* answer_text = "extern \"C\" int answer() { return 42; }\n";
constexpr seconds ample{60};

ProgramText program_of(const std::string& text) {
  return {{{"program.cpp", text}}, {"program.cpp"}, {"-O1"}};
}

class HostCompilerTest : public ::testing::Test {
 protected:
  HostCompilerTest() {
    environment.set("ZWANG_CXX", nullptr);
    environment.set("TMPDIR", temporary.string());
  }

  // The temporary folder must be empty after every test.
  void TearDown() override { EXPECT_EQ(count_files(temporary), 0); }

  // A script used as compiler.
  HostCompiler script(const std::string& text, const std::string& name = "fake") const {
    const fs::path path = scratch.path() / name;
    fs::create_directories(path.parent_path());
    write_text(path, text);
    ::chmod(path.c_str(), 0755);
    return HostCompiler(path);
  }

  // The message of a failed compilation with it.
  std::string failure(const HostCompiler& compiler, const std::string& text = answer_text,
                      milliseconds limit = ample) const {
    return message_of<MachineError>([&] { compiler.compile(program_of(text), target, limit); });
  }

  Scratch scratch;
  Environment environment;
  const fs::path temporary = scratch.folder("temporary $(touch pwned) `touch pwned` ' \" ; & | tmp");
  const fs::path target = scratch.path() / "library.so";
};

// --- The compiler at work ----------------------------------------------------------------------------------

TEST_F(HostCompilerTest, ACompiledFunctionCanBeCalled) {
  HostCompiler::find()->compile(program_of(answer_text), target);
  const LoadedProgram program(target);
  EXPECT_EQ(program.symbol<int()>("answer")(), 42);
}

TEST_F(HostCompilerTest, SeveralUnitsAndTheirHeadersBecomeOneLibrary) {
  ProgramText program{
      {{"parts/shared.h", "int half(int);\n"},
       {"a.cpp", "#include \"parts/shared.h\"\nextern \"C\" int a() { return half(10) + B; }\n"},
       {"parts/b.cpp", "#include \"parts/shared.h\"\nint half(int x) { return x / 2; }\n"},
       {"-c.cpp", "extern \"C\" int c() { return 7; }\n"}},
      {"a.cpp", "parts/b.cpp", "-c.cpp"},
      {"-O1", "-DB=100"}};
  HostCompiler::find()->compile(program, target);
  const LoadedProgram loaded(target);
  EXPECT_EQ(loaded.symbol<int()>("a")(), 105);
  EXPECT_EQ(loaded.symbol<int()>("c")(), 7);
}

TEST_F(HostCompilerTest, AnErrorInTheTextReachesTheMessageWithItsPlace) {
  const std::string message = failure(*HostCompiler::find(), "int good;\nint bad = no_such_thing;\n");
  EXPECT_NE(message.find("program.cpp:2:"), std::string::npos) << message;
  EXPECT_NE(message.find("no_such_thing"), std::string::npos) << message;
  EXPECT_FALSE(fs::exists(target));
}

TEST_F(HostCompilerTest, AnErrorInOneOfSeveralUnitsNamesThatUnit) {
  const ProgramText program{
      {{"good.cpp", answer_text}, {"bad.cpp", "#error never\n"}}, {"good.cpp", "bad.cpp"}, {}};
  const std::string message =
      message_of<MachineError>([&] { HostCompiler::find()->compile(program, target, ample); });
  EXPECT_NE(message.find("bad.cpp:1:"), std::string::npos) << message;
}

TEST_F(HostCompilerTest, PathsAndFlagsWithShellCharactersAreTakenLiterally) {
  // If a shell ran the command, `touch pwned` would create a file in the current folder or the compiler's.
  const std::string nasty = "a b'c\"d $(touch pwned) `touch pwned` ; touch pwned & | > pwned * \\ \t";
  const fs::path real = HostCompiler::find()->path();
  fs::create_directory(scratch.path() / nasty);
  const fs::path compiler = scratch.path() / nasty / "c++ --version";
  fs::create_symlink(real, compiler);
  const fs::path nasty_target = scratch.path() / nasty / "$(touch pwned).so";
  ProgramText program = program_of("extern \"C\" const char* text() { return TEXT; }\n");
  program.flags.push_back("-DTEXT=\"$(touch pwned) `touch pwned`\"");

  environment.set("ZWANG_CXX", compiler.string());
  HostCompiler::find()->compile(program, nasty_target);

  EXPECT_STREQ(LoadedProgram(nasty_target).symbol<const char*()>("text")(), "$(touch pwned) `touch pwned`");
  EXPECT_FALSE(fs::exists("pwned"));
  EXPECT_FALSE(fs::exists(scratch.path() / "pwned"));
}

TEST_F(HostCompilerTest, TheLibraryIsForItsOwnerOnly) {
  const mode_t before = ::umask(0);
  HostCompiler::find()->compile(program_of(answer_text), target);
  ::umask(before);
  EXPECT_EQ(fs::status(target).permissions(), fs::perms::owner_all);
}

TEST_F(HostCompilerTest, TheEnvironmentIsPassedOnWithEnglishMessages) {
  environment.set("ZWANG_TEST_WORD", "passed on");
  environment.set("LC_ALL", "de_DE.UTF-8");
  const std::string message =
      failure(script("#!/bin/sh\necho \"error: $ZWANG_TEST_WORD, $LC_ALL, $(pwd)\"; exit 1\n"));
  EXPECT_NE(message.find("passed on, C, " + temporary.string()), std::string::npos) << message;
}

// --- Which compiler ----------------------------------------------------------------------------------------

TEST_F(HostCompilerTest, TheCompilerOfTheBuildIsTheFirstChoice) {
  EXPECT_EQ(HostCompiler::find()->path(), HostCompiler::configured());
}

TEST_F(HostCompilerTest, TheUsersChoiceComesBeforeIt) {
  const HostCompiler other = script("#!/bin/sh\n");
  environment.set("ZWANG_CXX", other.path().string());
  EXPECT_EQ(HostCompiler::find()->path(), other.path());
  // A name is searched on the PATH; empty counts as not set.
  environment.set("PATH", "relative:" + scratch.path().string());
  environment.set("ZWANG_CXX", "fake");
  EXPECT_EQ(HostCompiler::find()->path(), other.path());
  environment.set("ZWANG_CXX", "");
  EXPECT_EQ(HostCompiler::find()->path(), HostCompiler::configured());
}

TEST_F(HostCompilerTest, AChoiceThatDoesNotExistIsAnErrorThatNamesIt) {
  for (const std::string wrong : {"/no/such/c++", "no-such-compiler", "/", "c++ -O3", "/etc/passwd"}) {
    environment.set("ZWANG_CXX", wrong);
    const std::string message = message_of<MachineError>([] { HostCompiler::find(); });
    EXPECT_NE(message.find("ZWANG_CXX"), std::string::npos) << wrong;
    EXPECT_NE(message.find(wrong), std::string::npos) << message;
  }
}

TEST_F(HostCompilerTest, WithoutTheCompilerOfTheBuildThePathIsSearched) {
  script("#!/bin/sh\n", "bin/clang++");
  environment.set("PATH", "/no/such/folder::" + (scratch.path() / "bin").string());
  EXPECT_EQ(HostCompiler::find("/no/such/c++")->path(), scratch.path() / "bin/clang++");
  script("#!/bin/sh\n", "bin/g++");
  EXPECT_EQ(HostCompiler::find("/no/such/c++")->path(), scratch.path() / "bin/g++");
}

TEST_F(HostCompilerTest, ACompilerInTheCurrentFolderIsNotTaken) {
  script("#!/bin/sh\n", "bin/c++");
  const fs::path before = fs::current_path();
  fs::current_path(scratch.path());
  environment.set("PATH", ":.:bin:");
  EXPECT_FALSE(HostCompiler::find("c++").has_value());
  fs::current_path(before);
}

TEST_F(HostCompilerTest, WithoutAnyCompilerThereIsNone) {
  environment.set("PATH", scratch.path().string());
  EXPECT_FALSE(HostCompiler::find("/no/such/c++").has_value());
  environment.set("PATH", nullptr);
  EXPECT_FALSE(HostCompiler::find("").has_value());
}

// --- The key -----------------------------------------------------------------------------------------------

TEST_F(HostCompilerTest, TheKeyTellsProgramsApart) {
  const HostCompiler compiler = *HostCompiler::find();
  const ProgramText base{{{"a", "1"}, {"b", "2"}}, {"a"}, {"-x", "-y"}};
  const std::string key = compiler.key(base);
  EXPECT_EQ(compiler.key(base), key);

  std::vector<ProgramText> others(7, base);
  others[0].sources["a"] = "3";
  others[1].sources = {{"a", "1"}, {"c", "2"}};
  others[2].units = {"b"};
  others[3].flags = {"-x"};
  others[4].flags = {"-y", "-x"};
  others[5].flags = {"-x-y"};
  others[6].sources = {{"a", "1\nsource 1\nb\ntext 1\n2"}};
  for (std::size_t i = 0; i < others.size(); ++i) EXPECT_NE(compiler.key(others[i]), key) << i;
  EXPECT_NE(script("#!/bin/sh\n").key(base), key);
  environment.set("CPATH", "/somewhere");
  EXPECT_NE(compiler.key(base), key);
}

TEST_F(HostCompilerTest, ACompilerThatWasReplacedIsAnotherCompiler) {
  const HostCompiler before = script("#!/bin/sh\n");
  EXPECT_EQ(HostCompiler(before.path()).identity(), before.identity());
  fs::last_write_time(before.path(), fs::last_write_time(before.path()) + seconds(1));
  EXPECT_NE(HostCompiler(before.path()).identity(), before.identity());
}

TEST_F(HostCompilerTest, TheMachineIsTheSameEveryTime) {
  EXPECT_EQ(machine_identity(), machine_identity());
  EXPECT_GT(machine_identity().size(), 60U);  // it contains the processor's features
}

// --- A compiler that misbehaves ----------------------------------------------------------------------------

TEST_F(HostCompilerTest, AFailingCompilersFirstMessagesReachTheError) {
  const std::string message =
      failure(script("#!/bin/sh\n"
                     "echo 'note: chatter' >&2\necho 'x.h:1: error: \033[31mthe cause' >&2\n"
                     "for i in $(seq 1000); do echo \"line $i\"; done; exit 3\n"));
  EXPECT_NE(message.find("exit code 3"), std::string::npos) << message;
  EXPECT_NE(message.find("the cause"), std::string::npos);
  EXPECT_NE(message.find("line 5"), std::string::npos);
  // Shortened, and without control characters.
  EXPECT_EQ(message.find("chatter"), std::string::npos);
  EXPECT_EQ(message.find("line 100"), std::string::npos);
  EXPECT_EQ(message.find('\033'), std::string::npos);
}

TEST_F(HostCompilerTest, AHangingCompilerIsKilledWithAllItStarted) {
  const fs::path number = scratch.path() / "number";
  const HostCompiler compiler = script("#!/bin/sh\nsleep 1000 &\necho $! > '" + number.string() +
                                       "'\necho half done > \"$TMPDIR/left\"\nwait\n");
  const auto start = std::chrono::steady_clock::now();
  const std::string message = failure(compiler, answer_text, milliseconds(500));
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(10));
  EXPECT_NE(message.find("after 0.5 s"), std::string::npos) << message;
  const pid_t sleeper = std::stoi(read_text(number));
  // Orphans remain as zombies if the init process does not collect them.
  EXPECT_TRUE(eventually([&] {
    return ::kill(sleeper, 0) != 0 ||
           read_text("/proc/" + std::to_string(sleeper) + "/stat").find(") Z") != std::string::npos;
  }));
}

TEST_F(HostCompilerTest, TheLimitHoldsForAllUnitsTogether) {
  const HostCompiler compiler = script("#!/bin/sh\nsleep 0.3\n");
  ProgramText program;
  for (char name = 'a'; name <= 'z'; ++name) {
    program.units.push_back(std::string(1, name));
    program.sources[program.units.back()] = "";
  }
  // 26 sleeps of 0.3 s end within 0.5 s only if 16 run at once.
  if (std::thread::hardware_concurrency() >= 16) GTEST_SKIP() << "needs fewer than 16 cores";
  EXPECT_NE(message_of<MachineError>([&] { compiler.compile(program, target, milliseconds(500)); }), "");
}

TEST_F(HostCompilerTest, ACompilerThatDiesOrMakesNothingIsReported) {
  EXPECT_NE(failure(script("#!/bin/sh\nkill -SEGV $$\n")).find("signal 11"), std::string::npos);
  EXPECT_NE(failure(script("#!/bin/sh\nkill -KILL $$\n")).find("out of memory?"), std::string::npos);
  EXPECT_NE(failure(script("#!/bin/sh\n")).find("wrote no library"), std::string::npos);
}

TEST_F(HostCompilerTest, AScriptWithoutAnInterpreterLineIsNotRun) {
  // A script without "#!" line, which a shell would run nevertheless.
  const std::string message = failure(script("touch '" + (scratch.path() / "pwned").string() + "'\n"));
  EXPECT_NE(message.find("could not start"), std::string::npos) << message;
  EXPECT_FALSE(fs::exists(scratch.path() / "pwned"));
}

TEST_F(HostCompilerTest, ExitCodesAreSeenEvenWhereChildrenAreIgnored) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  const std::string message = failure(script("#!/bin/sh\nexit 9\n"));
  EXPECT_EQ(std::signal(SIGCHLD, before), SIG_IGN);
  EXPECT_NE(message.find("exit code 9"), std::string::npos) << message;
}

TEST_F(HostCompilerTest, AnInterruptEndsTheCompilerAndLeavesNothing) {
  const fs::path number = scratch.path() / "number";
  const HostCompiler compiler =
      script("#!/bin/sh\necho $$ > '" + number.string() + ".new'\nmv '" + number.string() + ".new' '" +
             number.string() + "'\nexec sleep 1000\n");
  const pid_t process = start_process([&] {
    std::signal(SIGTERM, SIG_DFL);
    try {
      compiler.compile(program_of(answer_text), target, ample);
    } catch (const Interrupted& interrupt) {
      return interrupt.signal() == SIGTERM && count_files(temporary) == 0;
    }
    return false;
  });
  EXPECT_TRUE(eventually([&] { return fs::exists(number); }));
  ::kill(process, SIGTERM);
  EXPECT_EQ(wait_for(process), 0);
  EXPECT_NE(::kill(std::stoi(read_text(number)), 0), 0);
}

volatile std::sig_atomic_t handled = 0;

TEST_F(HostCompilerTest, AnInterruptReachesItsHandlerAndAnIgnoredOneIsIgnored) {
  handled = 0;
  const auto before = std::signal(SIGINT, [](int) { handled = 1; });
  EXPECT_THROW(script("#!/bin/sh\nkill -INT $PPID\nsleep 1000\n").compile(program_of(""), target, ample),
               Interrupted);
  EXPECT_EQ(handled, 1);
  std::signal(SIGINT, SIG_IGN);
  EXPECT_NE(failure(script("#!/bin/sh\nkill -INT $PPID\nsleep 0.1\nexit 5\n")).find("exit code 5"),
            std::string::npos);
  std::signal(SIGINT, before);
}

TEST_F(HostCompilerTest, ATargetThatCannotBeWrittenIsReported) {
  const std::string message = message_of<MachineError>(
      [&] { HostCompiler::find()->compile(program_of(answer_text), scratch.path() / "none/library.so"); });
  EXPECT_NE(message.find("none/library.so"), std::string::npos) << message;
}

// --- Loading -----------------------------------------------------------------------------------------------

TEST_F(HostCompilerTest, TwoProgramsKeepTheirNamesApart) {
  const HostCompiler compiler = *HostCompiler::find();
  compiler.compile(program_of("int number = 1; extern \"C\" int f() { return number; }\n"), target);
  compiler.compile(program_of("int number = 2; extern \"C\" int f() { return number; }\n"),
                   scratch.path() / "other.so");
  const LoadedProgram one(target);
  LoadedProgram two(scratch.path() / "other.so");
  EXPECT_EQ(one.symbol<int()>("f")(), 1);
  const LoadedProgram moved = std::move(two);
  EXPECT_EQ(moved.symbol<int()>("f")(), 2);
}

TEST_F(HostCompilerTest, AFileThatCannotBeLoadedIsReported) {
  EXPECT_THROW(LoadedProgram(scratch.path() / "none.so"), MachineError);
  write_text(target, "not a library");
  const std::string message = message_of<MachineError>([&] { LoadedProgram{target}; });
  EXPECT_NE(message.find(target.string()), std::string::npos) << message;
  // A bare name is a file in the current folder, not one of the system's libraries.
  EXPECT_THROW(LoadedProgram("libm.so.6"), MachineError);
}

TEST_F(HostCompilerTest, ASymbolThatIsMissingIsReported) {
  HostCompiler::find()->compile(program_of(answer_text), target);
  const LoadedProgram program(target);
  const std::string message = message_of<MachineError>([&] { program.symbol<int()>("question"); });
  EXPECT_NE(message.find("'question'"), std::string::npos) << message;
}

// --- The kernels inside ------------------------------------------------------------------------------------

TEST(KernelTextTest, EveryKernelHeaderIsCarriedByteForByte) {
  const fs::path root = ZWANG_SOURCE_DIR;
  std::size_t headers = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / "kernels"))
    headers += entry.path().extension() == ".h" ? 1 : 0;
  EXPECT_EQ(kernel_files().size(), headers);
  for (const KernelFile& file : kernel_files())
    EXPECT_EQ(file.text, read_text(root / file.name)) << file.name;
}

}  // namespace
}  // namespace zwang::host_compiler_test
