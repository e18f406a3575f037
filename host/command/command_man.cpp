// `man`: prints the manual page, written from the parser's own tables.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "host/command/command.h"
#include "host/command/parser_tables.h"

namespace zwang {

namespace {

// A line of roff must not begin with a dot or a quote, and a plain hyphen may be set as a dash.
std::string roff(const std::string& text) {
  std::string made;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool first = at == 0 || text[at - 1] == '\n';
    if (first && (c == '.' || c == '\'')) made += "\\&";
    if (c == '\\')
      made += "\\e";
    else if (c == '-')
      made += "\\-";
    else
      made += c;
  }
  return made;
}

std::string option_text(const OptionEntry& option) {
  std::string text = ".TP\n";
  for (std::size_t k = 0; k < option.names.size(); ++k)
    text += fmt::format("{}\\fB{}\\fR", k == 0 ? "" : ", ", roff(option.names[k]));
  if (!option.values.empty())
    text += fmt::format(" {}", roff(fmt::format("{}", fmt::join(option.values, "|"))));
  else if (!option.placeholder.empty())
    text += fmt::format(" \\fI{}\\fR", roff(option.placeholder));
  text += "\n" + roff(option.description);
  if (!option.default_text.empty()) text += roff(" (default: " + option.default_text + ")");
  return text + "\n";
}

std::string command_text(const CommandEntry& command) {
  std::string text = fmt::format(".SS zwang {}", roff(command.name));
  if (!command.positional.empty())
    text += command.positional_required ? " " + command.positional : " [" + command.positional + "]";
  if (!command.options.empty()) text += " [options]";
  text += "\n" + roff(command.description) + ".\n";
  if (!command.positional.empty())
    text += fmt::format(".TP\n\\fI{}\\fR\n{}\n", command.positional, roff(command.positional_description));
  for (const OptionEntry& option : command.options) text += option_text(option);
  if (!command.footer.empty()) text += ".PP\n.nf\n" + roff(command.footer) + "\n.fi\n";
  return text;
}

std::string manual_page(const CLI::App& app) {
  std::string text = fmt::format(
      ".\\\" Written by `zwang man`.\n"
      ".TH ZWANG 1 \"\" \"zwang {}\" \"User Commands\"\n"
      ".SH NAME\nzwang \\- {}\n"
      ".SH SYNOPSIS\n.B zwang\n.I COMMAND\n[\\fIarguments\\fR]\n"
      ".SH DESCRIPTION\n"
      "A study is one TOML file: the system, the ensemble and what to observe. Where a command takes a "
      "study, the name of "
      "a study that \\fBzwang list\\fR shows may be given instead of a path.\n"
      ".SH OPTIONS\n",
      ZWANG_VERSION, roff("ensembles of constrained, non-smooth mechanical systems"));
  for (const OptionEntry& option : parser_options(app)) text += option_text(option);
  text += ".SH COMMANDS\n";
  for (const CommandEntry& command : parser_commands(app)) text += command_text(command);
  return text +
         ".SH EXIT STATUS\n"
         ".TP\n0\ndone\n.TP\n1\nwrong input\n.TP\n2\nthe machine: no compiler, no device, disk full, out of "
         "memory\n"
         ".TP\n3\ndone, but too many members failed or a check disagreed\n.TP\n130\ninterrupted; "
         "\\fB\\-\\-resume\\fR "
         "continues\n"
         ".SH ENVIRONMENT\n"
         ".TP\nZWANG_CXX\nC++ compiler for the cpu backend\n"
         ".TP\nZWANG_CACHE\nfolder of compiled studies\n"
         ".TP\nZWANG_MPI\noff: ignore the other ranks of an MPI launcher\n"
         ".TP\nNO_COLOR\nno colour in messages\n";
}

}  // namespace

void add_man(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("man", "print the manual page (roff)");
  command->footer(
      "Examples:\n"
      "  zwang man | man -l -\n"
      "  zwang man > ~/.local/share/man/man1/zwang.1");
  command->callback([&app, &action] { action = [&app] { return print(manual_page(app)); }; });
}

}  // namespace zwang
