// `list` and `new`: the studies that come with the program, and a starter file for a new one.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "host/command/command.h"
#include "host/platform/machine_error.h"
#include "host/platform/private_files.h"
#include "host/platform/table.h"
#include "host/study_file/config_text.h"
#include "host/study_file/find_study.h"
#include "host/study_file/leading_comment.h"
#include "host/toml/raw_text.h"
#include "src/base/error.h"

namespace zwang {

namespace {

// The value of `title`.
std::string title_of(const ConfigFile& file) {
  const std::string_view key = "\ntitle = \"";
  const std::size_t at = file.text.find(key);
  if (at == std::string_view::npos) return "";
  const std::size_t begin = at + key.size();
  return std::string(file.text.substr(begin, file.text.find('"', begin) - begin));
}

int list(const std::string& name) {
  if (!name.empty()) return print(std::string(require_listed_study(name)));
  TextTable table({"study", "topic", "source", "title"});
  for (const ConfigFile& file : config_files()) {
    if (file.name == starter_name) continue;
    // "Mayer 1899 I, section 3, r = 2." -> Mayer 1899 I
    const std::string source = comment_line(file.text, "Source:");
    table.add({short_name(file.name), comment_line(file.text, "Topic:"),
               source.substr(0, source.find_first_of(",:;.")), title_of(file)});
  }
  return print(
      table.text("") +
      "\n`zwang run NAME` runs one, `zwang list NAME` prints it, `zwang new MINE --from NAME` copies it.\n");
}

// --- A new study ---------------------------------------------------------------------------------

struct NewOptions {
  std::string name;
  std::string from;
};

void require_plain(const std::string& name) {
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  if (!name.empty() && name[0] != '-' && std::all_of(name.begin(), name.end(), good)) return;
  throw Error(
      {.message = "not a name for a study",
       .found = printable(name),
       .expected = "letters, digits, _ and -; the name is used for the file and for the results folder"});
}

std::string starter(const std::string& name) {
  std::string text;
  for (const ConfigFile& file : config_files())
    if (file.name == starter_name) text = file.text;
  constexpr std::string_view mark = "NAME";
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + name.size()))
    text.replace(at, mark.size(), name);
  return text;
}

int make_new(const NewOptions& options) {
  std::string name = options.name;
  if (name.ends_with(".toml")) name.resize(name.size() - 5);
  require_plain(name);
  const std::string text =
      options.from.empty() ? starter(name) : std::string(require_listed_study(options.from));
  const std::string path = name + ".toml";
  const int code = write_new(path, text, 0644, false);
  if (code == EEXIST)
    throw Error({.where = {path, 0, 0},
                 .message = "the file exists already",
                 .found = path,
                 .expected = "a new name; existing files are never overwritten"});
  if (code != 0)
    throw MachineError({.where = {path, 0, 0},
                        .message = "the study could not be written",
                        .found = system_message(code),
                        .expected = "a writable folder"});
  return print(fmt::format("{0}\n\nNext:  zwang run {0} --report\n", path));
}

}  // namespace

void add_list(CLI::App& app, Action& action) {
  const auto name = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("list", "list the studies that come with the program, or print one");
  command->add_option("NAME", *name, "print this study");
  command->footer(
      "Examples:\n"
      "  zwang list\n"
      "  zwang list slung_load");
  command->callback([&action, name] { action = [name] { return list(*name); }; });
}

void add_new(CLI::App& app, Action& action) {
  const auto given = std::make_shared<NewOptions>();
  CLI::App* command = app.add_subcommand("new", "write a commented starter study, NAME.toml");
  command->add_option("NAME", given->name, "name of the study")->required();
  command->add_option("--from", given->from, "copy this study of `zwang list` instead");
  command->footer(
      "Examples:\n"
      "  zwang new first_try\n"
      "  zwang new my_crane --from slung_load");
  command->callback([&action, given] { action = [given] { return make_new(*given); }; });
}

}  // namespace zwang
