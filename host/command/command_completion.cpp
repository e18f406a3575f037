// `completion`: prints a completion script for bash, zsh or fish, written from the parser's own tables.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "host/command/command.h"
#include "host/command/parser_tables.h"

namespace zwang {

namespace {

// --- bash --------------------------------------------------------------------------------------------------

std::string bash_positional(const CommandEntry& command) {
  const std::string names = "$(\"$1\" list 2>/dev/null | sed -n '1d; /^$/q; s/ .*//p')";
  if (command.positional == "STUDY") return "_zwang_files '*.toml'";
  if (command.positional == "DIR") return "COMPREPLY=($(compgen -d -- \"$word\"))";
  if (command.positional == "NAME" && command.name == "list")
    return "COMPREPLY=($(compgen -W \"" + names + "\" -- \"$word\"))";
  if (!command.positional_values.empty())
    return fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$word\"))",
                       fmt::join(command.positional_values, " "));
  return ":";
}

std::string bash_script(const std::vector<CommandEntry>& commands) {
  std::string words, cases;
  for (const CommandEntry& command : commands) {
    words += (words.empty() ? "" : " ") + command.name;
    std::string names, values;
    for (const OptionEntry& option : command.options) {
      for (const std::string& name : option.names)
        if (name.starts_with("--")) names += name + " ";
      if (!option.values.empty())
        values += fmt::format("        {}) COMPREPLY=($(compgen -W '{}' -- \"$word\")); return ;;\n",
                              option.names.front(), fmt::join(option.values, " "));
    }
    values += "        --out) _zwang_files '*'; return ;;\n";
    cases += fmt::format(
        "    {})\n      case $before in\n{}      esac\n"
        "      if [[ $word == -* ]]; then COMPREPLY=($(compgen -W '{}' -- \"$word\")); else {}; fi ;;\n",
        command.name, values, names, bash_positional(command));
  }
  return fmt::format(
      R"(# bash completion for zwang, written by `zwang completion bash`.
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
      words, cases);
}

// --- zsh ---------------------------------------------------------------------------------------------------

// Text inside single quotes and brackets of an _arguments specification.
std::string zsh_text(const std::string& text) {
  std::string made;
  for (const char c : text) {
    if (c == '\'')
      made += "'\\''";
    else if (c == '[' || c == ']' || c == ':' || c == '\\')
      made += std::string("\\") + c;
    else
      made += c;
  }
  return made;
}

std::string zsh_option(const OptionEntry& option) {
  std::string spec = fmt::format("'{}[{}]", option.names.front(), zsh_text(option.description));
  if (option.names.front() == "--set") spec.insert(1, "*");
  if (!option.placeholder.empty())
    spec += fmt::format(":{}:{}", option.placeholder,
                        !option.values.empty()            ? fmt::format("({})", fmt::join(option.values, " "))
                        : option.names.front() == "--out" ? "_files"
                                                          : " ");
  return spec + "'";
}

std::string zsh_positional(const CommandEntry& command) {
  if (command.positional.empty()) return "";
  std::string how = " ";
  if (command.positional == "STUDY") how = "_files -g \"*.toml\"";
  if (command.positional == "DIR") how = "_files -/";
  if (command.positional == "NAME" && command.name == "list")
    how = "($(zwang list 2>/dev/null | sed -n \"1d; /^$/q; s/ .*//p\"))";
  if (!command.positional_values.empty())
    how = fmt::format("({})", fmt::join(command.positional_values, " "));
  return fmt::format(" \\\n        '*:{}:{}'", command.positional, how);
}

std::string zsh_script(const std::vector<CommandEntry>& commands) {
  std::string words, cases;
  for (const CommandEntry& command : commands) {
    words += fmt::format("    '{}:{}'\n", command.name, zsh_text(command.description));
    std::string options;
    for (const OptionEntry& option : command.options) options += " \\\n        " + zsh_option(option);
    cases +=
        fmt::format("    {})\n      _arguments -s{}{} ;;\n", command.name, options, zsh_positional(command));
  }
  return fmt::format(R"(#compdef zwang
# zsh completion for zwang, written by `zwang completion zsh`.
_zwang() {{
  local -a commands
  commands=(
{}  )
  if (( CURRENT == 2 )); then
    _describe -t commands 'zwang command' commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
{}  esac
}}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _zwang "$@"; else compdef _zwang zwang; fi
)",
                     words, cases);
}

// --- fish --------------------------------------------------------------------------------------------------

std::string fish_text(const std::string& text) {
  std::string made;
  for (const char c : text) made += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return made;
}

std::string fish_positional(const CommandEntry& command, const std::string& here) {
  if (command.positional == "STUDY")
    return fmt::format("complete -c zwang -n '{}' -f -a '(__fish_complete_suffix .toml)'\n", here);
  if (command.positional == "DIR")
    return fmt::format("complete -c zwang -n '{}' -f -a '(__fish_complete_directories)'\n", here);
  if (command.positional == "NAME" && command.name == "list")
    return fmt::format(
        "complete -c zwang -n '{}' -f -a '(zwang list 2>/dev/null | sed -n \"1d; /^\\$/q; s/ .*//p\")'\n",
        here);
  if (!command.positional_values.empty())
    return fmt::format("complete -c zwang -n '{}' -f -a '{}'\n", here,
                       fmt::join(command.positional_values, " "));
  return "";
}

std::string fish_script(const std::vector<CommandEntry>& commands) {
  std::string text =
      "# fish completion for zwang, written by `zwang completion fish`.\ncomplete -c zwang -f\n";
  for (const CommandEntry& command : commands)
    text += fmt::format("complete -c zwang -n __fish_use_subcommand -a {} -d '{}'\n", command.name,
                        fish_text(command.description));
  for (const CommandEntry& command : commands) {
    const std::string here = "__fish_seen_subcommand_from " + command.name;
    for (const OptionEntry& option : command.options) {
      text += fmt::format("complete -c zwang -n '{}' -l {} -d '{}'", here, option.names.front().substr(2),
                          fish_text(option.description));
      if (!option.values.empty())
        text += fmt::format(" -x -a '{}'", fmt::join(option.values, " "));
      else if (option.names.front() == "--out")
        text += " -r -F";
      else if (!option.placeholder.empty())
        text += " -x";
      text += "\n";
    }
    text += fish_positional(command, here);
  }
  return text;
}

std::string completion_script(const CLI::App& app, const std::string& shell) {
  const std::vector<CommandEntry> commands = parser_commands(app);
  if (shell == "zsh") return zsh_script(commands);
  return shell == "fish" ? fish_script(commands) : bash_script(commands);
}

}  // namespace

void add_completion(CLI::App& app, Action& action) {
  const auto shell = std::make_shared<std::string>("bash");
  CLI::App* command = app.add_subcommand("completion", "print a completion script for bash, zsh or fish");
  command->add_option("SHELL", *shell, "the shell (default: bash)")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer(
      "Examples:\n"
      "  source <(zwang completion)\n"
      "  zwang completion bash > ~/.local/share/bash-completion/completions/zwang\n"
      "  zwang completion zsh > ~/.zfunc/_zwang\n"
      "  zwang completion fish > ~/.config/fish/completions/zwang.fish");
  command->callback(
      [&app, &action, shell] { action = [&app, shell] { return print(completion_script(app, *shell)); }; });
}

}  // namespace zwang
