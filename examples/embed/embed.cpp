// Runs a study given as text as an ensemble and reads its statistics, without any file.
#include <cstdio>
#include <exception>

#include <zwang/host/run/backend_factory.h>
#include <zwang/host/run/run.h>
#include <zwang/host/study_file/load_study.h>

constexpr const char* text = R"toml(
[parameters]
kick = { uniform = [1.0, 7.0] }
[[anchor]]
name = "nail"
position = [0, 0]
[[point]]
name = "ball"
mass = 0.2
position = [0, -1]
velocity = ["kick", 0]
[system]
gravity = [0, -9.81]
[[constraint]]
name = "string"
require = "distance(ball, nail) <= 1"
[ensemble]
members = 200
[time]
end = 2.0
[measure]
highest = "maximum(ball.y)"
first_slack = "first(release(string))"
)toml";

int main() {
  try {
    const zwang::Study study = zwang::read_study(text, "embedded.toml");
    // "cpu" would compile the study first; for a few hundred members the reference is fast enough.
    const auto backend = zwang::make_backend("reference", study, {.threads = 2});
    const zwang::RunResult result = zwang::run_ensemble(study, *backend, zwang::RunOptions{.threads = 2});
    const zwang::SeriesStatistics& highest = result.statistics.measures[0];
    const zwang::SeriesStatistics& slack = result.statistics.measures[1];
    std::printf("%lld members, highest point %.4f on average, slack in %lld of them\n", result.tally.entered,
                highest.moments.mean, static_cast<long long>(slack.moments.count));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
