#include "host/files/write_records.h"

#include <string>
#include <vector>

#include "host/backend/member_bytes.h"
#include "host/backend/record_rows.h"
#include "host/files/netcdf_file.h"
#include "host/files/write_origin.h"
#include "host/sample/sampler.h"
#include "src/system/system.h"

namespace zwang {

namespace {

using RecordType = NetcdfFile::Type;

constexpr std::size_t rows_in_chunk = 16384, members_in_chunk = 4096;

// The variables of one record, and the rows that wait to be written.
struct RecordVariables {
  std::string name;
  NetcdfFile::Variable count, total, t, index;
  std::vector<NetcdfFile::Variable> values;
  std::size_t rows_written = 0;
  std::vector<long long> counts, totals, indices;
  std::vector<double> times;
  std::vector<std::vector<double>> columns;
};

class RecordsFile {
 public:
  RecordsFile(const std::filesystem::path& path, const Study& study, const RunResult& origin)
      : study_(study), file_(path), layout_(study, drawn_inputs(study)) {
    write_origin(file_, study, origin, "states at events and periods, member by member");
    file_.attribute("featureType", "timeSeries");
    member_ = file_.dimension("member", static_cast<std::size_t>(study.ensemble.members));
    number_ = whole("member", member_, members_in_chunk, "number of the member");
    add_sweep_values();
    for (const RecordFormula& record : study.system->records) define(record);
  }

  void add(long long first, std::span<const char> records) {
    const std::size_t size = layout_.bytes(), members = records.size() / size;
    std::vector<long long> numbers;
    for (std::size_t k = 0; k < members; ++k) {
      numbers.push_back(first + static_cast<long long>(k));
      take(records.data() + k * size);
    }
    const NetcdfFile::Place start = {written_}, count = {members};
    file_.put(number_, start, count, numbers);
    put_sweep_values(first, members, start, count);
    for (RecordVariables& record : variables_) put(record, start, count);
    written_ += members;
  }

  void close() { file_.close(); }

 private:
  NetcdfFile::Variable whole(const std::string& name, NetcdfFile::Dimension dimension, std::size_t chunk,
                             const std::string& long_name) {
    const std::size_t size = dimension.size == 0 ? chunk : std::min(chunk, dimension.size);
    NetcdfFile::Variable made = file_.variable(
        name, RecordType::integer, {.dimensions = {dimension}, .chunks = {size}, .deflate = true}, long_name);
    file_.attribute(made, "units", "1");
    return made;
  }

  // The values of the sweeps are auxiliary coordinates of the members.
  void add_sweep_values() {
    const std::vector<std::string> names = sweep_dimensions(study_);
    for (std::size_t i = 0; i < names.size(); ++i)
      sweeps_.push_back(file_.variable(
          names[i], RecordType::real,
          {.dimensions = {member_}, .chunks = {std::min(members_in_chunk, member_.size)}, .deflate = true},
          study_.sweeps[i].name));
  }

  void put_sweep_values(long long first, std::size_t members, const NetcdfFile::Place& start,
                        const NetcdfFile::Place& count) {
    std::size_t below = 1;  // points of the sweeps after this one
    for (std::size_t i = sweeps_.size(); i-- > 0;) {
      const std::vector<double>& values = study_.sweeps[i].values;
      std::vector<double> numbers;
      for (std::size_t k = 0; k < members; ++k) {
        const long long point = study_.ensemble.point_of(first + static_cast<long long>(k));
        numbers.push_back(values[static_cast<std::size_t>(point) / below % values.size()]);
      }
      file_.put(sweeps_[i], start, count, numbers);
      below *= values.size();
    }
  }

  void define(const RecordFormula& record) {
    RecordVariables made;
    made.name = record.name;
    const std::string rows = record.name + "_obs";
    const NetcdfFile::Dimension row = file_.dimension(rows, 0);
    made.count = whole(record.name + "_count", member_, members_in_chunk, "rows of the member");
    file_.attribute(made.count, "sample_dimension", rows);
    std::string coordinates;
    for (const NetcdfFile::Variable& sweep : sweeps_)
      coordinates += (coordinates.empty() ? "" : " ") + sweep.name;
    if (!coordinates.empty()) file_.attribute(made.count, "coordinates", coordinates);
    made.total = whole(record.name + "_total", member_, members_in_chunk,
                       "occurrences since `from` and after `skip`, kept or not");
    const auto real = [&](const std::string& name, const std::string& long_name) {
      return file_.variable(name, RecordType::real, {.dimensions = {row}, .chunks = {rows_in_chunk}},
                            long_name);
    };
    made.t = real(record.name + "_t", "time");
    made.index = whole(record.name + "_index", row, rows_in_chunk, "number of the occurrence, from 0");
    for (const NamedExpr& value : record.values)
      made.values.push_back(real(record.name + "_" + value.name, value.name));
    made.columns.resize(record.values.size());
    variables_.push_back(std::move(made));
  }

  // The rows of one member.
  void take(const char* member) {
    const char* at = member + 8 * layout_.recorded_place();
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      const RecordFormula& formula = study_.system->records[i];
      const RecordedRows rows(formula, at);
      RecordVariables& to = variables_[i];
      to.counts.push_back(static_cast<long long>(rows.count()));
      to.totals.push_back(rows.total());
      for (std::size_t k = 0; k < rows.count(); ++k) {
        to.times.push_back(rows.time(k));
        to.indices.push_back(rows.occurrence(k));
        for (std::size_t c = 0; c < to.columns.size(); ++c) to.columns[c].push_back(rows.value(k, c));
      }
      at += 8 * formula.room();
    }
  }

  void put(RecordVariables& record, const NetcdfFile::Place& start, const NetcdfFile::Place& count) {
    file_.put(record.count, start, count, record.counts);
    file_.put(record.total, start, count, record.totals);
    const NetcdfFile::Place row = {record.rows_written}, rows = {record.times.size()};
    file_.put(record.t, row, rows, record.times);
    file_.put(record.index, row, rows, record.indices);
    for (std::size_t c = 0; c < record.columns.size(); ++c) {
      file_.put(record.values[c], row, rows, record.columns[c]);
      record.columns[c].clear();
    }
    record.rows_written += record.times.size();
    record.counts.clear();
    record.totals.clear();
    record.times.clear();
    record.indices.clear();
  }

  const Study& study_;
  NetcdfFile file_;
  MemberRecordLayout layout_;
  NetcdfFile::Dimension member_{};
  NetcdfFile::Variable number_;
  std::vector<NetcdfFile::Variable> sweeps_;
  std::vector<RecordVariables> variables_;
  std::size_t written_ = 0;
};

}  // namespace

void write_records(const std::filesystem::path& path, const Study& study, const RunResult& origin,
                   const std::function<void(const TakeMembers& take)>& read) {
  RecordsFile file(path, study, origin);
  read([&](long long first, std::span<const char> records) { file.add(first, records); });
  file.close();
}

}  // namespace zwang
