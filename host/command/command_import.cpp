// `import`: a robot description file becomes a study.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "host/command/command.h"
#include "host/import/import_options.h"
#include "host/import/import_study.h"
#include "host/import/study_draft.h"
#include "host/platform/machine_error.h"
#include "host/platform/private_files.h"
#include "host/toml/raw_text.h"
#include "src/base/error.h"

namespace zwang {

namespace {

struct ImportCommand {
  std::string file, out;
  bool overwrite = false, json = false;
  std::string base = "fixed";
  std::vector<std::string> joints;  // NAME=VALUE
  ImportOptions options;
};

std::vector<std::pair<std::string, double>> read_joint_positions(const std::vector<std::string>& given) {
  std::vector<std::pair<std::string, double>> made;
  for (const std::string& text : given) {
    const std::size_t equals = text.rfind('=');
    const std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
    double number = 0;
    const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (value.empty() || code != std::errc{} || end != value.data() + value.size() || !std::isfinite(number))
      throw Error({.where = {"--joint", 0, 0},
                   .message = "not a position of a joint",
                   .found = printable(text),
                   .expected = "NAME=VALUE with a finite number, in radians or metres"});
    made.emplace_back(text.substr(0, equals), number);
  }
  return made;
}

std::string read_input(const std::string& path) {
  const auto text = read_whole(std::filesystem::path(path));
  if (text) return *text;
  throw Error({.where = {path, 0, 0},
               .message = "the file cannot be read",
               .found = std::filesystem::exists(path) ? "not a readable file" : "no such file",
               .expected = "a URDF or MJCF file"});
}

void write_imported(const std::string& path, const std::string& text, bool overwrite) {
  std::error_code ignored;
  if (overwrite && std::filesystem::is_regular_file(path)) std::filesystem::remove(path, ignored);
  const int code = write_new(path, text, 0644, false);
  if (code == EEXIST)
    throw Error({.where = {path, 0, 0},
                 .message = "the file exists already",
                 .found = path,
                 .expected = "a new name after --out, or --overwrite"});
  if (code != 0)
    throw MachineError({.where = {path, 0, 0},
                        .message = "the study could not be written",
                        .found = system_message(code),
                        .expected = "a writable folder"});
}

std::string import_json(const std::string& path, const ImportedStudy& made) {
  const nlohmann::ordered_json json = {{"study", path},
                                       {"format", made.format},
                                       {"bodies", made.bodies},
                                       {"observables", made.observables},
                                       {"planar", made.planar},
                                       {"notes", made.notes},
                                       {"left_out", made.left_out}};
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string import_summary(const std::string& path, const ImportedStudy& made) {
  std::string text = fmt::format("{}\n\n{}: {} {} in {}, {} observables\n", path, made.format, made.bodies,
                                 made.bodies == 1 ? "body" : "bodies", made.planar ? "the plane" : "space",
                                 made.observables);
  for (const std::string& note : made.notes) text += "- " + one_line(note) + "\n";
  text += made.left_out.empty() ? "Nothing was left out.\n" : "Left out:\n";
  for (const std::string& one : made.left_out) text += "- " + one_line(one) + "\n";
  return text + fmt::format("\nNext:  zwang run {0} --report\n", path);
}

int import(ImportCommand given) {
  given.options.floating_base = given.base == "floating";
  given.options.joints = read_joint_positions(given.joints);
  const ImportedStudy made = import_study(read_input(given.file), given.file, given.options);
  const std::string path =
      given.out.empty() ? std::filesystem::path(given.file).stem().string() + ".toml" : given.out;
  write_imported(path, made.text, given.overwrite);
  return print(given.json ? import_json(path, made) : import_summary(path, made));
}

}  // namespace

void add_import(CLI::App& app, Action& action) {
  const auto given = std::make_shared<ImportCommand>();
  CLI::App* command =
      app.add_subcommand("import", "write a study from a robot description file: URDF, or MJCF of MuJoCo");
  command->add_option("FILE", given->file, "the file, .urdf or .xml")->required();
  command->add_option("--out", given->out, "the study; default: the name of FILE with .toml, in this folder");
  command->add_flag("--overwrite", given->overwrite, "replace an existing study");
  command
      ->add_option("--joint", given->joints,
                   "position of a joint at the start, NAME=VALUE in radians or metres (repeatable)")
      ->take_all()
      ->allow_extra_args(false);
  command
      ->add_option("--base", given->base, "URDF: whether the root link is fixed to the world or moves freely")
      ->check(CLI::IsMember({"fixed", "floating"}))
      ->capture_default_str();
  command->add_flag("--ground", given->options.ground,
                    "URDF: add the plane z = 0, which collision shapes touch");
  command
      ->add_option_function<double>(
          "--friction", [given](double value) { given->options.friction = value; },
          "coefficient of friction of all contacts")
      ->check([](const std::string& text) { return at_least(text, 0); });
  command->add_flag("--space", given->options.in_space,
                    "bodies in space also where all motion is in one plane");
  command
      ->add_option_function<std::string>(
          "--keyframe", [given](const std::string& name) { given->options.keyframe = name; },
          "MJCF: the keyframe whose posture is the start, or none; default: the first one")
      ->take_last();
  command->add_flag("--stand", given->options.stand,
                    "put what moves freely on the first plane, with its lowest shape");
  command->add_flag("--json", given->json, "print JSON");
  command->footer(
      "Examples:\n"
      "  zwang import examples/import/cart_pole.urdf --joint hinge=0.5\n"
      "  zwang import examples/import/hopper.xml --joint leg_joint=-0.6 --joint foot_joint=0.2 --stand\n"
      "  zwang import robot.urdf --base floating --ground --friction 0.8");
  command->callback([&action, given] { action = [given] { return import(*given); }; });
}

}  // namespace zwang
