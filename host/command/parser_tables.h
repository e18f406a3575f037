// The commands and options of the parser as plain tables, from which completions and the manual page are
// written.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace zwang {

struct OptionEntry {
  std::vector<std::string> names;  // with dashes, long ones first: --help, -h
  std::string description;
  std::string placeholder;          // of its value, e.g. UINT; empty for a flag
  std::vector<std::string> values;  // if they are a fixed set
  std::string default_text;         // empty: none
  std::string group;                // heading in --help
};

struct CommandEntry {
  std::string name, description, footer;
  std::vector<OptionEntry> options;
  std::string positional;  // STUDY, DIR, NAME, SHELL or empty
  std::string positional_description;
  bool positional_required = false;
  std::vector<std::string> positional_values;
};

std::vector<CommandEntry> parser_commands(const CLI::App& app);
// The options of the program itself.
std::vector<OptionEntry> parser_options(const CLI::App& app);

}  // namespace zwang
