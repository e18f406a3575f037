// Reads the tables from CLI11's parser.
#include "host/command/parser_tables.h"

#include <CLI/CLI.hpp>

namespace zwang {

namespace {

// "TEXT:{auto,cpu}" -> auto, cpu
std::vector<std::string> fixed_values(const std::string& type) {
  const std::size_t begin = type.find('{'), end = type.find('}');
  std::vector<std::string> values;
  if (begin == std::string::npos || end == std::string::npos) return values;
  std::string word;
  for (const char c : type.substr(begin + 1, end - begin - 1) + ",") {
    if (c != ',') {
      word += c;
    } else {
      values.push_back(word);
      word.clear();
    }
  }
  return values;
}

OptionEntry entry_of(const CLI::Option& option) {
  OptionEntry made;
  for (const std::string& name : option.get_lnames()) made.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) made.names.push_back("-" + name);
  made.description = option.get_description();
  const std::string type = option.get_type_name();
  if (option.get_items_expected_max() > 0) made.placeholder = type.substr(0, type.find(':'));
  made.values = fixed_values(type);
  made.default_text = option.get_default_str();
  made.group = option.get_group();
  return made;
}

CommandEntry command_entry(const CLI::App& command) {
  CommandEntry made{.name = command.get_name(),
                    .description = command.get_description(),
                    .footer = command.get_footer(),
                    .options = parser_options(command),
                    .positional = "",
                    .positional_description = "",
                    .positional_required = false,
                    .positional_values = {}};
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional() || !option->get_lnames().empty()) continue;
    made.positional = option->get_single_name();
    made.positional_description = option->get_description();
    made.positional_required = option->get_required();
    made.positional_values = fixed_values(option->get_type_name());
  }
  return made;
}

}  // namespace

std::vector<OptionEntry> parser_options(const CLI::App& app) {
  std::vector<OptionEntry> made;
  for (const CLI::Option* option : app.get_options())
    if (!option->get_lnames().empty()) made.push_back(entry_of(*option));
  return made;
}

std::vector<CommandEntry> parser_commands(const CLI::App& app) {
  std::vector<CommandEntry> made;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    made.push_back(command_entry(*command));
  return made;
}

}  // namespace zwang
