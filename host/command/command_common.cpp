// Options, checks and messages that all commands share.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <new>
#include <optional>
#include <sstream>
#include <system_error>

#include "host/command/bad_verdict.h"
#include "host/command/command.h"
#include "host/command/errors_json.h"
#include "host/platform/child_process.h"
#include "host/platform/colour.h"
#include "host/platform/machine_error.h"
#include "host/platform/parse_fraction.h"
#include "host/run/count_members.h"
#include "host/statistics/run_tally.h"
#include "host/study/study.h"
#include "host/study_file/find_study.h"
#include "host/study_file/study_notes.h"
#include "host/toml/raw_text.h"
#include "src/base/error.h"

namespace zwang {

void add_common(CLI::App* command, CommonOptions& options) {
  command->add_option("STUDY", options.study, "study file (TOML), or a name that `zwang list` shows")
      ->required();
  command->add_option_function<unsigned long long>(
      "--seed",
      [&options](unsigned long long seed) {
        options.seed = seed;
        options.has_seed = true;
      },
      "seed of the draws, instead of the study's");
  command->add_option("--set", options.overrides, "change a key of the study: path.to.key=value (repeatable)")
      ->take_all()
      ->allow_extra_args(false);
  command->add_flag("--json", options.json, "print JSON with full precision");
}

namespace {

// "0,2" -> {0, 2}; "all" -> {}. Nothing if the text is neither.
std::optional<std::vector<int>> device_numbers(const std::string& text) {
  std::vector<int> numbers;
  if (text == "all") return numbers;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    int number = 0;
    const auto [end, code] = std::from_chars(part.data(), part.data() + part.size(), number);
    const bool twice = std::find(numbers.begin(), numbers.end(), number) != numbers.end();
    if (code != std::errc{} || end != part.data() + part.size() || number < 0 || twice) return std::nullopt;
    numbers.push_back(number);
  }
  return numbers.empty() || text.back() == ',' ? std::nullopt : std::optional(numbers);
}

}  // namespace

void add_devices(CLI::App* command, std::vector<int>& devices) {
  command
      ->add_option_function<std::string>(
          "--device", [&devices](const std::string& text) { devices = *device_numbers(text); },
          "GPUs for the cuda backend: one number, several (0,1), or all")
      ->default_str("0")
      ->check([](const std::string& text) {
        return device_numbers(text)
                   ? ""
                   : "found " + printable(text) + ", expected different GPU numbers such as 0 or 0,1, or all";
      });
}

std::string device_text(const std::vector<int>& devices) {
  return devices.empty() ? "all" : fmt::format("{}", fmt::join(devices, ","));
}

Study load_by_path_or_name(const std::string& path, const std::vector<std::string>& overrides, bool quiet) {
  Study study = find_study(path, overrides);
  if (!quiet)
    for (const std::string& text : study_notes(study)) note(text);
  return study;
}

std::string at_least(const std::string& text, double smallest) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code == std::errc{} && end == text.data() + text.size() && value >= smallest) return "";
  return "found " + printable(text) + ", expected a number >= " + number_text(smallest);
}

namespace {

// "1e6", "2.5e3" and "1000000" are whole numbers, "1e-3" and "0x10" are not.
std::optional<long long> whole_number(const std::string& text) {
  const char* const end = text.data() + text.size();
  long long whole = 0;
  if (const auto [at, code] = std::from_chars(text.data(), end, whole); code == std::errc{} && at == end)
    return whole;
  double number = 0;
  const auto [at, code] = std::from_chars(text.data(), end, number);
  // Beyond 2^53 not every whole number is a double.
  if (code != std::errc{} || at != end || std::abs(number) > 0x1p53 || number != std::floor(number))
    return {};
  return static_cast<long long>(number);
}

}  // namespace

void accept_whole_number(CLI::Option* option, long long least, long long most) {
  option->transform(CLI::Validator(
      [least, most](std::string& text) -> std::string {
        const std::optional<long long> number = whole_number(text);
        if (!number || *number < least || *number > most)
          return "found " + printable(text) + ", expected a whole number from " + std::to_string(least) +
                 " to " + std::to_string(most);
        text = std::to_string(*number);
        return "";
      },
      ""));
}

Study load(const CommonOptions& options) {
  Study study = load_by_path_or_name(options.study, options.overrides, false);
  if (options.has_seed) study.ensemble.seed = options.seed;
  return study;
}

int verdict(const RunTally& tally, double max_failed) {
  if (failed_share(tally) <= max_failed) return exit_done;
  std::cerr << fmt::format(
      "zwang: {} of {} members failed ({:.3g} %), more than --max-failed allows ({:.3g} %); "
      "{}\n",
      tally.failed, tally.members, 100 * failed_share(tally), 100 * max_failed,
      tally.entered > 0 ? "the statistics cover the other members" : "no members are left for statistics");
  return exit_bad_verdict;
}

double read_max_failed(const std::string& text) { return parse_fraction(text, "--max-failed"); }

int print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
    return exit_done;
  std::cerr << "zwang: error: could not write to standard output\n";
  return exit_machine;
}

std::string compiling_text(const Study& study) {
  return "compiling " + printable(study.name) + ", once for this machine ...";
}

void note(const std::string& text) { std::cerr << "zwang: note: " << text << "\n"; }

namespace {

bool errors_as_json = false;

int report(const std::vector<Problem>& problems, int code) {
  std::string text;
  for (const Problem& problem : problems) text += (text.empty() ? "" : "\n") + problem.text();
  std::cerr << coloured_error(text, colours_wanted(stderr)) << "\n";
  if (errors_as_json) print(errors_json(problems, code));
  return code;
}

}  // namespace

void print_errors_as_json() { errors_as_json = true; }

int report_usage(const std::string& message) {
  if (errors_as_json) print(errors_json({{.message = message}}, exit_wrong_input));
  return exit_wrong_input;
}

int report_exception() {
  try {
    throw;
  } catch (const Error& error) {
    return report(error.problems(), exit_wrong_input);
  } catch (const Interrupted& interrupted) {
    return 128 + interrupted.signal();
  } catch (const BadVerdict& verdict) {
    return report({verdict.problem()}, exit_bad_verdict);
  } catch (const MachineError& error) {
    return report({error.problem()}, exit_machine);
  } catch (const std::bad_alloc&) {
    return report({{.message = "out of memory",
                    .found = "no free memory on this machine or within its limits (ulimit -v)",
                    .expected = "memory for a batch of members and for the statistics",
                    .hint = "use a smaller --batch or --statistics-memory"}},
                  exit_machine);
  } catch (const std::system_error& error) {
    return report({{.message = "the operating system refused a request",
                    .found = error.what(),
                    .expected = "the requested threads and memory",
                    .hint = "use a smaller --threads"}},
                  exit_machine);
  } catch (const std::exception& error) {
    return report({{.message = error.what()}}, exit_machine);
  }
}

}  // namespace zwang
