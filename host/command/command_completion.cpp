// `completion`: prints a bash completion script, generated from the parser's own commands and options.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "host/command/command.h"

namespace zwang {

namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

// An option's names, its first name, and its values if they are a fixed set.
struct OptionWords {
  std::string names, name, values;
};

// "TEXT:{auto,cpu}" -> "auto cpu"
std::string fixed_words(const std::string& type) {
  const std::size_t begin = type.find('{'), end = type.find('}');
  if (begin == std::string::npos || end == std::string::npos) return "";
  std::string words = type.substr(begin + 1, end - begin - 1);
  for (char& c : words)
    if (c == ',') c = ' ';
  return words;
}

std::vector<OptionWords> options_of(const CLI::App& command) {
  std::vector<OptionWords> made;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_lnames().empty()) continue;
    OptionWords words;
    for (const std::string& name : option->get_lnames()) words.names += "--" + name + " ";
    words.name = "--" + option->get_lnames().front();
    words.values = fixed_words(option->get_type_name());
    made.push_back(words);
  }
  return made;
}

// The name of a command's positional argument: STUDY, DIR or NAME.
std::string positional_of(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options())
    if (option->get_positional() && option->get_lnames().empty()) return option->get_single_name();
  return "";
}

std::string positional_words(const CLI::App& command) {
  const std::string positional = positional_of(command);
  if (positional == "STUDY") return "_zwang_files '*.toml'";
  if (positional == "DIR") return "COMPREPLY=($(compgen -d -- \"$word\"))";
  if (positional == "NAME" && command.get_name() == "list")
    return "COMPREPLY=($(compgen -W \"$(\"$1\" list 2>/dev/null | sed -n '/^$/q; s/ .*//p')\" -- \"$word\"))";
  return ":";
}

std::string completion_script(const CLI::App& app) {
  std::string commands, cases;
  for (const CLI::App* command : commands_of(app)) {
    commands += (commands.empty() ? "" : " ") + command->get_name();
    std::string names, values;
    for (const OptionWords& option : options_of(*command)) {
      names += option.names;
      if (!option.values.empty())
        values += fmt::format("        {}) COMPREPLY=($(compgen -W '{}' -- \"$word\")); return ;;\n",
                              option.name, option.values);
    }
    values += "        --out) _zwang_files '*'; return ;;\n";
    cases += fmt::format(
        "    {})\n      case $before in\n{}      esac\n"
        "      if [[ $word == -* ]]; then COMPREPLY=($(compgen -W '{}' -- \"$word\")); else {}; fi ;;\n",
        command->get_name(), values, names, positional_words(*command));
  }
  return fmt::format(
      R"(# bash completion for zwang, written by `zwang completion`.
_zwang_files() {{
  local file
  COMPREPLY=()
  while IFS= read -r file; do
    if [[ -d $file ]]; then COMPREPLY+=("$file/"); elif [[ $file == $1 ]]; then COMPREPLY+=("$file"); fi
  done < <(compgen -f -- "$word")
  compopt -o nospace 2>/dev/null
}}
_zwang() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
  COMPREPLY=()
  if [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W '{} --help --version' -- "$word"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{}  esac
}}
complete -F _zwang zwang
)",
      commands, cases);
}

}  // namespace

void add_completion(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("completion", "print a bash completion script");
  command->footer(
      "Examples:\n"
      "  source <(zwang completion)\n"
      "  zwang completion > ~/.local/share/bash-completion/completions/zwang");
  command->callback([&app, &action] { action = [&app] { return print(completion_script(app)); }; });
}

}  // namespace zwang
