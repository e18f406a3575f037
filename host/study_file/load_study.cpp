// Loads a study: text -> Document -> StudyBuilder::build(), which is the table of contents of this folder.
#include "host/study_file/load_study.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "host/study_file/builder.h"
#include "host/study_file/input_columns.h"
#include "host/toml/document.h"
#include "host/toml/reader.h"
#include "src/base/error.h"
#include "src/system/system.h"

namespace zwang {

namespace {

const std::vector<std::string> top_keys = {
    "title",     "parameters", "joint",      "anchor",  "point",       "body",    "coordinate",
    "auxiliary", "system",     "force",      "surface", "link",        "contact", "constraint",
    "impulse",   "event",      "ensemble",   "time",    "integrator",  "observe", "measure",
    "given",     "units",      "statistics", "output",  "sensitivity", "record"};

// Whether an unknown top-level key may be a misspelt table that defines names, such as [[pont]]. Formulas
// that use unknown names are then not reported.
bool may_hide_names(const Value& root) {
  const std::vector<std::string> no_names = {"title",      "system", "force",      "impulse",
                                             "ensemble",   "time",   "integrator", "units",
                                             "statistics", "output", "given",      "sensitivity"};
  return std::any_of(root.entries.begin(), root.entries.end(), [&](const Entry& entry) {
    if (std::find(top_keys.begin(), top_keys.end(), entry.key) != top_keys.end()) return false;
    const std::string meant = nearest(entry.key, top_keys);
    return std::find(no_names.begin(), no_names.end(), meant) == no_names.end();
  });
}

// Results are written to results/<study name>: a file called "...toml" must not lead outside of that folder.
std::string name_of(const std::filesystem::path& path) {
  const std::string stem = path.stem().string();
  return stem.empty() || stem == "." || stem == ".." ? "study" : stem;
}

// The title is printed on terminals, which would interpret control characters.
bool is_plain(const std::string& title) {
  return std::none_of(title.begin(), title.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f;
  });
}

}  // namespace

StudyBuilder::StudyBuilder(const Document& document, std::string path,
                           const std::vector<InputColumn>& columns)
    : reader_(document), columns_(columns), csv_files_(path) {
  study_.name = name_of(path);
  study_.path = std::move(path);
  study_.text = document.text();
  study_.document = std::make_shared<const Value>(document.root());
  description_.kinetic = description_.potential = pool().zero();
}

Study StudyBuilder::build() {
  const Table top(reader_, {&reader_.document().root(), ""}, top_keys);
  names_.lost = may_hide_names(reader_.document().root());
  if (const Field title = top["title"])
    if (const auto text = reader_.string(title, "a title in quotes")) {
      if (!is_plain(*text)) reader_.report(title, "a control character", "text that can be printed");
      study_.title = *text;
    }

  // The order matters; builder.h gives the reasons.
  read_names();
  read_parameters();
  read_anchors();
  read_points();
  read_bodies();
  read_coordinates();
  read_auxiliaries();
  add_orientation_states();
  read_system();
  read_forces();
  read_time();
  read_constraints();
  read_surfaces();
  read_links();
  read_contacts();
  read_impulses();
  reject_beside_general_variation();
  define_energies();
  read_events();
  if (fields_.stop) read_stop(fields_.stop);
  read_observables();
  read_records();
  read_measures();
  read_givens();
  add_density();
  read_sensitivity();
  read_units();
  read_ensemble();
  check_sensitivity();
  read_integrator();
  read_statistics();
  read_output();
  check_sizes();
  check_records_size();
  check_labels();
  reader_.finish();

  // The equations are derived here; after this only checks that need numbers remain.
  study_.system = std::make_shared<const System>(std::move(description_));
  check_masses();
  check_nominal_member();
  reader_.finish();
  return std::move(study_);
}

Study read_study(const std::string& text, const std::string& path,
                 const std::vector<std::string>& overrides) {
  return read_study(text, path, overrides, {});
}

Study read_study(const std::string& text, const std::string& path, const std::vector<std::string>& overrides,
                 const std::vector<InputColumn>& columns) {
  Document document(text, path);
  for (const std::string& assignment : overrides) document.set(assignment);
  if (!columns.empty()) {
    check_columns(columns);
    draw_from_columns(document.root(), columns);
    const std::string members = members_by_rows(document.root(), overrides, columns.front().values.size());
    if (!members.empty()) document.set(members);
  }
  try {
    return StudyBuilder(document, path, columns).build();
  } catch (const Error& error) {
    // Errors about formulas that grow too large when differentiated carry no location.
    std::vector<Problem> problems = error.problems();
    for (Problem& problem : problems)
      if (problem.where.file.empty()) problem.where.file = path;
    throw Error(std::move(problems));
  }
}

Study load_study(const std::string& path, const std::vector<std::string>& overrides) {
  const auto fail = [&](const std::string& message, const std::string& expected) {
    throw Error({.where = {path, 0, 0}, .message = message, .expected = expected});
  };
  std::error_code code;
  if (!std::filesystem::exists(path, code)) fail("there is no such file", "the path of a study");
  if (std::filesystem::is_directory(path, code)) fail("this is a folder", "the path of a study");
  std::ifstream stream(path, std::ios::binary);
  // One byte beyond the limit is enough to detect that the file is too large.
  std::string text(Document::size_limit + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad() || (!stream.eof() && stream.gcount() == 0))
    fail("the file cannot be read", "a readable file");
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return read_study(text, path, overrides);
}

}  // namespace zwang
