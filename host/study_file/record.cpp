// Reads [[record]]: states at events or at a period.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "host/study/study.h"
#include "host/study_file/builder.h"
#include "host/toml/document.h"
#include "host/toml/raw_text.h"
#include "host/toml/reader.h"
#include "kernels/base/layout.h"
#include "src/base/error.h"
#include "src/expression/expression.h"
#include "src/formula/parse.h"
#include "src/formula/parsed_formula.h"
#include "src/formula/scope.h"
#include "src/system/equations.h"
#include "src/system/system.h"

namespace zwang {

namespace {

constexpr std::size_t most_records = 64;
constexpr long long most_rows = 100'000'000;
constexpr double most_times = 1e8;                        // of a period
constexpr double recorded_numbers_limit = 1e9;            // of all members
constexpr double batch_bytes_limit = 64.0 * 1024 * 1024;  // of one member at least

}  // namespace

void StudyBuilder::read_records() {
  const std::vector<Field> entries = naming_entries("record");
  if (entries.size() > most_records)
    reader_.report({study_.path, 0, 0}, "[[record]]: too many", std::to_string(entries.size()),
                   "at most " + std::to_string(most_records));
  for (const Field& entry : entries) {
    RecordFormula made;
    made.name = entry_name(entry);
    // Reductions tell a record from a point by its name.
    if (!made.name.empty()) register_name(made.name, entry.value->find("name")->value.mark, entry.place);
    made.every = made.phase = made.from = pool().zero();
    read_record(entry, made);
    description_.records.push_back(std::move(made));
  }
}

void StudyBuilder::read_record(const Field& entry, RecordFormula& made) {
  const Table table(reader_, entry,
                    {"name", "at", "every", "phase", "values", "side", "from", "skip", "most", "keep"});
  read_record_times(table, entry, made);
  if (const Field values = table.require("values", "values = { x = \"x\", v = \"x'\" }"))
    read_record_values(values, made);
  if (const Field from = table["from"])
    if (const auto time = formula(from, allow_parameters)) {
      made.from = *time;
      check_value(from, *time, is_finite, "not a finite time", "a finite time");
    }
  if (const Field skip = table["skip"]) made.skip = reader_.integer(skip, 0, most_rows).value_or(0);
  if (const Field most = table["most"]) made.most = reader_.integer(most, 1, most_rows).value_or(made.most);
  if (const Field keep = table["keep"]) made.keep_last = reader_.choice(keep, {"first", "last"}) == "last";
  const Field side = table["side"];
  if (!side || !reader_.choice(side, {"before", "after"})) return;
  made.before = side.value->text == "before";
  if (made.pattern != EventPattern::shock)
    reader_.report(side, "nothing jumps there", "side only beside at = \"shock(c)\"");
  for (const NamedExpr& value : made.values)
    if (made.before && mentions_reactions(pool(), value.value))
      reader_.report(side, "reactions are known after an event only", "side = \"after\", or no reactions");
}

void StudyBuilder::read_record_times(const Table& table, const Field& entry, RecordFormula& made) {
  const Field at = table["at"], every = table["every"], phase = table["phase"];
  if (!at == !every) {
    reader_.report_found(entry, "a record needs one of at, every", at ? "both" : "neither",
                         "at = \"shock(wall)\", or every = \"2*pi/omega\"");
    return;
  }
  if (at) {
    if (phase) reader_.report(phase, "only a period has a phase", "no phase, or every = ... instead of at");
    read_record_pattern(at, made);
    return;
  }
  if (const auto period = formula(every, allow_parameters)) {
    made.every = *period;
    // A period that is drawn or swept is checked member by member.
    const Evaluated known = evaluate(*period);
    if (known.state == State::constant && !is_positive(known.value))
      reader_.report_found(every, "not a period", number_text(known.value), "a finite number > 0");
    else if (known.state == State::constant && study_.time.end / known.value > most_times)
      reader_.report_found(every, "too many times up to the end", number_text(known.value),
                           "a period of at least " + number_text(study_.time.end / most_times));
  }
  if (!phase) return;
  if (const auto shift = formula(phase, allow_parameters)) {
    made.phase = *shift;
    check_value(phase, *shift, is_finite, "not a finite time", "a finite time");
  }
}

void StudyBuilder::read_record_pattern(const Field& field, RecordFormula& made) {
  made.pattern = EventPattern::shock;
  if (!reader_.string(field, "an event in quotes, such as \"shock(wall)\"")) return;
  const auto parsed = parse_or_report(field, [&](const Source& source) {
    return parse_event_pattern(pool(), field.value->text, scope_, source);
  });
  if (!parsed) return;
  made.pattern = parsed->pattern;
  if (made.pattern == EventPattern::watched)
    made.target = static_cast<std::size_t>(
        std::find(scope_.events.begin(), scope_.events.end(), parsed->name) - scope_.events.begin());
  else
    made.target = names_.constraint_index.at(parsed->name);
}

void StudyBuilder::read_record_values(const Field& field, RecordFormula& made) {
  if (field.value->kind != Value::Kind::table || field.value->entries.empty()) {
    reader_.report(field, "a record needs values", "values = { x = \"x\", v = \"x'\" }");
    return;
  }
  const std::set<std::string> reserved = {"t", "count", "index", "total"};
  std::set<std::string> names;
  for (const Entry& entry : field.value->entries) {
    const Field item = Reader::child(field, entry.value, entry.key);
    const std::string place = field.place + "." + printable(entry.key);
    if (reserved.contains(entry.key))
      reader_.report(reader_.document().locate(entry.mark), place + ": the name is reserved",
                     "'" + entry.key + "'", "another name: t, count, index and total are always recorded");
    else
      register_name_in(names, entry.key, reader_.document().locate(entry.mark), place);
    const auto value = formula(item, allow_state | allow_reactions);
    made.values.push_back({entry.key, value.value_or(pool().zero())});
  }
}

// The record and the value of a reduction over its rows.
void StudyBuilder::place_in_record(const ReducedFormula& reduced, ReductionFormula& made) const {
  const auto& records = description_.records;
  const auto record = std::find_if(records.begin(), records.end(),
                                   [&](const RecordFormula& one) { return one.name == reduced.name; });
  made.target = static_cast<std::size_t>(record - records.begin());
  if (reduced.column.empty()) return;
  const auto column = std::find_if(record->values.begin(), record->values.end(),
                                   [&](const NamedExpr& value) { return value.name == reduced.column; });
  made.column = static_cast<std::size_t>(column - record->values.begin());
}

void StudyBuilder::check_records_size() {
  const double members = static_cast<double>(study_.ensemble.members);
  double all = 0;
  std::vector<std::string> terms;
  for (const RecordFormula& record : description_.records) {
    const double values = static_cast<double>(record_row_head + record.values.size());
    all += members * static_cast<double>(record.most) * values;
    terms.push_back(fmt::format("{} members x {} rows x {} numbers", study_.ensemble.members, record.most,
                                record_row_head + record.values.size()));
  }
  const double room = 8 * static_cast<double>(description_.record_room());
  const bool too_many = all > recorded_numbers_limit;
  if (!too_many && room <= batch_bytes_limit) return;
  reader_.report({study_.path, 0, 0}, "the records are too large", fmt::format("{}", fmt::join(terms, " + ")),
                 too_many ? "at most 1 000 000 000 numbers in all" : "at most 64 MiB for one member",
                 "a smaller `most`, fewer values or fewer members");
}

}  // namespace zwang
