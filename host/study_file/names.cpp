// Registers names. Parameters, points, anchors, coordinates and auxiliaries share one name space.
#include <algorithm>

#include "host/study_file/builder.h"
#include "host/toml/document.h"
#include "host/toml/raw_text.h"
#include "host/toml/reader.h"
#include "src/base/error.h"
#include "src/expression/expression.h"
#include "src/formula/parse.h"
#include "src/formula/scope.h"

namespace zwang {

namespace {

constexpr std::size_t coordinate_limit = 4096;

const char* const name_form = "letters, digits and _, beginning with a letter or _";

std::string line_text(const Mark& mark) {
  return mark.line == 0 ? "" : " on line " + std::to_string(mark.line);
}

}  // namespace

// The entries of a table that defines names. If the key is not a list of tables, names are lost.
std::vector<Field> StudyBuilder::naming_entries(const std::string& key) {
  const std::size_t before = reader_.problems().size();
  std::vector<Field> entries = repeated_table(reader_, key);
  if (reader_.problems().size() > before) names_.lost = true;
  return entries;
}

void StudyBuilder::register_name(const std::string& name, const Mark& mark, const std::string& place) {
  const Location where = reader_.document().locate(mark);
  const std::string shown_name = "'" + printable(name) + "'";
  if (!is_name(name)) {
    names_.lost = true;
    reader_.report(where, place + ": not a name", shown_name, name_form);
  } else if (is_reserved(name)) {
    names_.broken.insert(name);
    reader_.report(where, place + ": the name is reserved", shown_name,
                   "a name that is not a function of the formula language, t or pi");
  } else if (const auto [it, fresh] = names_.taken.emplace(name, place + line_text(mark)); !fresh) {
    names_.broken.insert(name);
    reader_.report(where, place + ": the name is taken", shown_name, "a name that is not used yet",
                   "it is already the name of " + it->second);
  }
}

bool StudyBuilder::register_name_in(std::set<std::string>& space, const std::string& name,
                                    const Location& where, const std::string& place) {
  if (!is_name(name))
    reader_.report(where, place + ": not a name", "'" + printable(name) + "'", name_form);
  else if (!space.insert(name).second)
    reader_.report(where, place + ": the name is taken", "'" + name + "'", "a name that is not used yet");
  else
    return true;
  return false;
}

// The name of an entry; "" after an error was reported.
std::string StudyBuilder::entry_name(const Field& entry) {
  const Entry* name = entry.value->find("name");
  if (!name) {
    names_.lost = true;
    reader_.report_found(entry, "'name' is missing", "", "a name in quotes");
    return "";
  }
  const auto text = reader_.string(Reader::child(entry, name->value, "name"), "a name in quotes");
  if (!text || text->empty()) names_.lost = true;
  if (text && text->empty()) reader_.report_found(entry, "not a name", "an empty string", name_form);
  return text.value_or("");
}

// The number of entries in `position`; three if it is missing or invalid.
std::size_t StudyBuilder::dimension_of(const Field& entry, const std::string& name) {
  const Entry* position = entry.value->find("position");
  const bool array = position && position->value.kind == Value::Kind::array;
  const std::size_t size = array ? position->value.items.size() : 0;
  if (size >= 1 && size <= 3) return size;
  names_.broken.insert(name);
  return 3;
}

std::vector<StudyBuilder::NamedPart> StudyBuilder::named_parts(const std::string& key, bool with_position) {
  std::vector<NamedPart> found;
  for (const Field& entry : naming_entries(key)) {
    NamedPart body{entry, entry_name(entry), 1, 0};
    if (with_position) body.dimension = dimension_of(entry, body.name);
    found.push_back(std::move(body));
  }
  return found;
}

void StudyBuilder::read_names() {
  bodies_.anchors = named_parts("anchor", true);
  bodies_.points = named_parts("point", true);
  bodies_.bodies = named_parts("body", true);
  bodies_.coordinates = named_parts("coordinate", false);
  bodies_.auxiliaries = naming_entries("auxiliary");
  for (const Field& entry : bodies_.auxiliaries) bodies_.auxiliary_names.push_back(entry_name(entry));
  draft_joints();

  // Registered in the order of the file, so that the second of two equal names is reported.
  struct Definition {
    std::string name;
    Mark mark;
    std::string place;
  };
  std::vector<Definition> definitions;
  const auto add_body = [&](const Field& entry, const std::string& name) {
    if (!name.empty()) definitions.push_back({name, entry.value->find("name")->value.mark, entry.place});
  };
  for (const std::vector<NamedPart>* list :
       {&bodies_.anchors, &bodies_.points, &bodies_.bodies, &bodies_.coordinates})
    for (const NamedPart& body : *list) add_body(body.entry, body.name);
  for (std::size_t i = 0; i < bodies_.auxiliaries.size(); ++i)
    add_body(bodies_.auxiliaries[i], bodies_.auxiliary_names[i]);
  std::set<std::string> of_joints;
  for (const JointDraft& draft : parameters_.joints)
    for (std::size_t i = 0; i < draft.names.size(); ++i) {
      of_joints.insert(draft.names[i]);
      definitions.push_back(
          {draft.names[i], draft.name_marks[i], "joint parameter '" + printable(draft.names[i]) + "'"});
    }
  if (const Field parameters = single_table(reader_, "parameters"))
    for (const Entry& entry : parameters.value->entries)
      if (!of_joints.contains(entry.key))
        definitions.push_back({entry.key, entry.mark, named_place("parameter", entry)});
  std::stable_sort(definitions.begin(), definitions.end(), [](const Definition& a, const Definition& b) {
    return std::pair(a.mark.line, a.mark.column) < std::pair(b.mark.line, b.mark.column);
  });
  for (const Definition& one : definitions) register_name(one.name, one.mark, one.place);
  register_bodies();
}

// Coordinates of the points come first, then those of bodies, then the generalized ones. All are defined before any formula is
// read, so that using one where it is not allowed gives a message about coordinates, not about an unknown
// name.
void StudyBuilder::register_bodies() {
  const auto add_coordinate = [&](const std::string& name) {
    const std::size_t index = description_.coordinates.size();
    description_.coordinates.push_back(name);
    const ScalarName made{pool().symbol(SymbolKind::coordinate, index),
                          pool().symbol(SymbolKind::velocity, index), allow_positions};
    if (!name.empty()) scope_.scalars.emplace(name, made);
    return made;
  };
  for (NamedPart& point : bodies_.points) {
    point.first = description_.coordinates.size();
    VectorName vector;
    for (std::size_t k = 0; k < point.dimension; ++k) {
      const ScalarName made = add_coordinate(component_name(point.name, k));
      vector.position.push_back(made.value);
      vector.velocity.push_back(*made.rate);
    }
    scope_.vectors.emplace(point.name, vector);
    description_.points.push_back({point.name, point.first, point.dimension, pool().one()});
  }
  for (NamedPart& body : bodies_.bodies) register_body(body);
  for (NamedPart& coordinate : bodies_.coordinates) {
    coordinate.first = description_.coordinates.size();
    add_coordinate(coordinate.name);
  }
  for (std::size_t i = 0; i < bodies_.auxiliary_names.size(); ++i) {
    description_.auxiliaries.push_back(bodies_.auxiliary_names[i]);
    scope_.scalars.emplace(bodies_.auxiliary_names[i],
                           ScalarName{pool().symbol(SymbolKind::auxiliary, i), {}, allow_auxiliaries});
  }
  for (std::size_t i = 0; i < description_.bodies.size(); ++i) register_orientation(i);
  // The position of an anchor is a formula that is read later. Until then its names exist only so that using
  // them too early is reported as such.
  const ScalarName nowhere{pool().zero(), pool().zero(), allow_positions};
  for (const NamedPart& anchor : bodies_.anchors) {
    VectorName vector;
    vector.is_anchor = true;
    vector.position.assign(anchor.dimension, pool().zero());
    vector.velocity = vector.position;
    scope_.vectors.emplace(anchor.name, vector);
    for (std::size_t k = 0; k < anchor.dimension; ++k)
      scope_.scalars.emplace(component_name(anchor.name, k), nowhere);
  }

  const std::size_t count = description_.coordinates.size() + description_.auxiliaries.size();
  if (description_.coordinates.empty() && !names_.lost)
    reader_.report({study_.path, 0, 0}, "the study has nothing that can move", "",
                   "at least one [[point]], [[body]] or [[coordinate]]");
  if (count > coordinate_limit)
    throw Error({.where = {study_.path, 0, 0},
                 .message = "too many coordinates and auxiliary states",
                 .found = std::to_string(count),
                 .expected = "at most " + std::to_string(coordinate_limit)});
}

}  // namespace zwang
