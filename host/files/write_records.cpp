#include "host/files/write_records.h"

#include <string>
#include <vector>

#include "host/backend/member_bytes.h"
#include "host/backend/record_rows.h"
#include "host/files/write_origin.h"
#include "host/netcdf/netcdf_file.h"
#include "host/sample/sampler.h"
#include "src/system/system.h"

namespace zwang {

namespace {

using RecordType = NetcdfFile::Type;

constexpr std::size_t rows_in_chunk = 16384, members_in_chunk = 4096;

// A variable along one dimension, written in whole chunks.
template <class Number>
struct RaggedColumn {
  NetcdfFile::Variable variable;
  std::size_t chunk = 1, written = 0;
  std::vector<Number> waiting = {};

  void write(NetcdfFile& file, bool all) {
    const std::size_t ready = all ? waiting.size() : waiting.size() / chunk * chunk;
    if (ready == 0) return;
    file.put(variable, {written}, {ready}, std::span<const Number>(waiting.data(), ready));
    written += ready;
    waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(ready));
  }
};

// The variables of one record.
struct RecordVariables {
  RaggedColumn<long long> count, total, index;
  RaggedColumn<double> t;
  std::vector<RaggedColumn<double>> values;
};

class RecordsFile {
 public:
  RecordsFile(const std::filesystem::path& path, const Study& study, const RunResult& result)
      : study_(study), file_(path), layout_(study, drawn_inputs(study)) {
    write_origin(file_, study, result, "states at events and periods, member by member");
    file_.attribute("featureType", "timeSeries");
    member_ = file_.dimension("member", static_cast<std::size_t>(result.tally.rows()));
    number_ = whole("member", member_, members_in_chunk, "number of the member");
    add_sweep_values();
    for (const RecordFormula& record : study.system->records) define(record);
  }

  // A chunk is written with the member that completes it: the order of the chunks in the file, and with it its
  // bytes, does not depend on how members are passed on.
  void add(long long first, std::span<const char> records) {
    const std::size_t size = layout_.bytes(), members = records.size() / size;
    for (std::size_t k = 0; k < members; ++k) {
      const long long member = first + static_cast<long long>(k);
      number_.waiting.push_back(member);
      take_sweep_values(member);
      take(records.data() + k * size);
      write(false);
    }
  }

  void close() {
    write(true);
    file_.close();
  }

 private:
  RaggedColumn<long long> whole(const std::string& name, NetcdfFile::Dimension dimension, std::size_t chunk,
                                const std::string& long_name) {
    const std::size_t size = dimension.size == 0 ? chunk : std::min(chunk, dimension.size);
    const NetcdfFile::Variable made = file_.variable(
        name, RecordType::integer, {.dimensions = {dimension}, .chunks = {size}, .deflate = true}, long_name);
    file_.attribute(made, "units", "1");
    return {made, size};
  }
  RaggedColumn<double> real(const std::string& name, NetcdfFile::Dimension dimension, std::size_t chunk,
                            const std::string& long_name) {
    const std::size_t size = dimension.size == 0 ? chunk : std::min(chunk, dimension.size);
    return {file_.variable(name, RecordType::real,
                           {.dimensions = {dimension}, .chunks = {size}, .deflate = true}, long_name),
            size};
  }

  // The values of the sweeps are auxiliary coordinates of the members.
  void add_sweep_values() {
    const std::vector<std::string> names = sweep_dimensions(study_);
    for (std::size_t i = 0; i < names.size(); ++i)
      sweeps_.push_back(real(names[i], member_, members_in_chunk, study_.sweeps[i].name));
  }

  void take_sweep_values(long long member) {
    auto rest = static_cast<std::size_t>(study_.ensemble.point_of(member));
    for (std::size_t i = sweeps_.size(); i-- > 0;) {
      const std::vector<double>& values = study_.sweeps[i].values;
      sweeps_[i].waiting.push_back(values[rest % values.size()]);
      rest /= values.size();
    }
  }

  void define(const RecordFormula& record) {
    RecordVariables made;
    const std::string rows = record.name + "_obs";
    const NetcdfFile::Dimension row = file_.dimension(rows, 0);
    made.count = whole(record.name + "_count", member_, members_in_chunk, "rows of the member");
    file_.attribute(made.count.variable, "sample_dimension", rows);
    std::string coordinates;
    for (const RaggedColumn<double>& sweep : sweeps_)
      coordinates += (coordinates.empty() ? "" : " ") + sweep.variable.name;
    if (!coordinates.empty()) file_.attribute(made.count.variable, "coordinates", coordinates);
    made.total = whole(record.name + "_total", member_, members_in_chunk,
                       "occurrences since `from` and after `skip`, kept or not");
    made.t = real(record.name + "_t", row, rows_in_chunk, "time");
    made.index = whole(record.name + "_index", row, rows_in_chunk, "number of the occurrence, from 0");
    for (const NamedExpr& value : record.values)
      made.values.push_back(real(record.name + "_" + value.name, row, rows_in_chunk, value.name));
    variables_.push_back(std::move(made));
  }

  // The rows of one member.
  void take(const char* member) {
    const char* at = member + 8 * layout_.recorded_place();
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      const RecordFormula& formula = study_.system->records[i];
      const RecordedRows rows(formula, at);
      RecordVariables& to = variables_[i];
      to.count.waiting.push_back(static_cast<long long>(rows.count()));
      to.total.waiting.push_back(rows.total());
      for (std::size_t k = 0; k < rows.count(); ++k) {
        to.t.waiting.push_back(rows.time(k));
        to.index.waiting.push_back(rows.occurrence(k));
        for (std::size_t c = 0; c < to.values.size(); ++c) to.values[c].waiting.push_back(rows.value(k, c));
      }
      at += 8 * formula.room();
    }
  }

  void write(bool all) {
    number_.write(file_, all);
    for (RaggedColumn<double>& sweep : sweeps_) sweep.write(file_, all);
    for (RecordVariables& record : variables_) {
      for (RaggedColumn<long long>* column : {&record.count, &record.total, &record.index})
        column->write(file_, all);
      record.t.write(file_, all);
      for (RaggedColumn<double>& value : record.values) value.write(file_, all);
    }
  }

  const Study& study_;
  NetcdfFile file_;
  MemberRecordLayout layout_;
  NetcdfFile::Dimension member_{};
  RaggedColumn<long long> number_;
  std::vector<RaggedColumn<double>> sweeps_;
  std::vector<RecordVariables> variables_;
};

}  // namespace

void write_records(const std::filesystem::path& path, const Study& study, const RunResult& result,
                   const std::function<void(const TakeMembers& take)>& read) {
  RecordsFile file(path, study, result);
  read([&](long long first, std::span<const char> records) { file.add(first, records); });
  file.close();
}

}  // namespace zwang
