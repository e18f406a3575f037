// Options, checks and messages that all commands share.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <iostream>
#include <new>
#include <optional>
#include <sstream>
#include <system_error>

#include "host/command/command.h"
#include "host/platform/child_process.h"
#include "host/platform/colour.h"
#include "host/platform/machine_error.h"
#include "host/platform/parse_fraction.h"
#include "host/run/count_members.h"
#include "host/statistics/run_tally.h"
#include "host/study/study.h"
#include "host/study_file/document.h"
#include "host/study_file/load_study.h"
#include "host/study_file/raw_text.h"
#include "src/base/error.h"

namespace zwang {

void add_common(CLI::App* command, CommonOptions& options) {
  command->add_option("STUDY", options.study, "study file (TOML)")->required();
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

void note_added_parameters(const Study& study) {
  const Entry* parameters = study.document->find("parameters");
  if (!parameters) return;
  std::vector<std::string> names;
  for (const Entry& entry : parameters->value.entries)
    if (entry.mark.line > 0) names.push_back(entry.key);
  for (const Entry& entry : parameters->value.entries) {
    if (entry.mark.line > 0 || entry.value.set_path.empty()) continue;
    const std::string hint = suggestion(entry.key, names);
    note("--set " + printable(entry.value.set_path) + ": the study has no such parameter; it was added" +
         (hint.empty() ? "" : "; " + hint));
  }
}

std::string at_least(const std::string& text, double smallest) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code == std::errc{} && end == text.data() + text.size() && value >= smallest) return "";
  return "found " + printable(text) + ", expected a number >= " + number_text(smallest);
}

Study load(const CommonOptions& options) {
  require_path_not_listed_name(options.study);
  Study study = load_study(options.study, options.overrides);
  note_added_parameters(study);
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

void note(const std::string& text) { std::cerr << "zwang: note: " << text << "\n"; }

int report_exception() {
  try {
    throw;
  } catch (const Error& error) {
    std::cerr << coloured_error(error.what(), colours_wanted(stderr)) << "\n";
    return exit_wrong_input;
  } catch (const Interrupted& interrupted) {
    return 128 + interrupted.signal();
  } catch (const MachineError& error) {
    std::cerr << coloured_error(error.what(), colours_wanted(stderr)) << "\n";
  } catch (const std::bad_alloc&) {
    std::cerr << Problem{.message = "out of memory",
                         .found = "no free memory on this machine or within its limits (ulimit -v)",
                         .expected = "memory for a batch of members and for the statistics",
                         .hint = "use a smaller --batch or --statistics-memory"}
                     .text()
              << "\n";
  } catch (const std::system_error& error) {
    std::cerr << Problem{.message = "the operating system refused a request",
                         .found = error.what(),
                         .expected = "the requested threads and memory",
                         .hint = "use a smaller --threads"}
                     .text()
              << "\n";
  } catch (const std::exception& error) {
    std::cerr << "zwang: error: " << error.what() << "\n";
  }
  return exit_machine;
}

}  // namespace zwang
