// A NetCDF-4 file being written: the C library, with failures as MachineError and nothing left open.
//
// The same calls give the same bytes: the library writes no times into the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace zwang {

class NetcdfFile {
 public:
  // Numbers that the file gave out.
  struct Dimension {
    int id;
    std::size_t size;
  };
  struct Variable {
    int id;
    std::string name;
  };

  // Of a variable. Doubles that are not written are NaN, integers -1.
  enum class Type { real, integer, byte, text };
  struct Shape {
    std::vector<Dimension> dimensions;
    // By dimension; none: contiguous, or as the library likes. Whole chunks should be put at once, as far as they go.
    std::vector<std::size_t> chunks = {};
    bool deflate = false;
    bool may_be_missing = false;  // of integers: -1 is the fill value, and readers show it as missing
  };

  // Makes the file, in place of one that is there.
  explicit NetcdfFile(std::filesystem::path path);
  NetcdfFile(const NetcdfFile&) = delete;
  NetcdfFile& operator=(const NetcdfFile&) = delete;
  ~NetcdfFile();  // a file that was not closed is of no use

  // --- What is in it: before the first put ---
  // A length of 0 is one that can grow: NetCDF knows no other empty dimension.
  Dimension dimension(const std::string& name, std::size_t size);
  Variable variable(const std::string& name, Type type, const Shape& shape, const std::string& long_name);
  // A dimension with a text for each of its places, under the same name.
  Dimension names(const std::string& name, const std::vector<std::string>& texts,
                  const std::string& long_name);

  // Of the file, then of a variable.
  void attribute(const std::string& name, const std::string& text);
  void attribute(const std::string& name, unsigned long long number);
  void attribute(const Variable& variable, const std::string& name, const std::string& text);
  void attribute(const Variable& variable, const std::string& name, double number);
  void attribute(const Variable& variable, const std::string& name, long long number);
  // CF's way to say what integers mean: flag_values 0, 1, 2 ... and one word for each.
  void flags(const Variable& variable, Type type, const std::vector<std::string>& meanings);

  // --- The numbers ---
  // All of them, or the part that begins at `start` and is `count` long in each dimension.
  void put(const Variable& variable, std::span<const double> values);
  void put(const Variable& variable, std::span<const long long> values);
  void put(const Variable& variable, std::span<const std::string> values);
  using Place = std::vector<std::size_t>;
  void put(const Variable& variable, const Place& start, const Place& count, std::span<const double> values);
  void put(const Variable& variable, const Place& start, const Place& count,
           std::span<const long long> values);
  void put(const Variable& variable, const Place& start, const Place& count,
           std::span<const signed char> values);
  void put(const Variable& variable, const Place& start, const Place& count,
           std::span<const std::string> values);

  // Everything is in the file when this returns.
  void close();

 private:
  struct Known {
    std::vector<Dimension> dimensions;
  };

  // `work` names what was done, for the message.
  void require(int code, const std::string& work);
  void set_fill(const Variable& variable, Type type, const Shape& shape);
  void set_storage(const Variable& variable, const Shape& shape);
  Place whole(const Variable& variable) const;
  void begin_data();

  std::filesystem::path path_;
  int id_ = -1;
  bool defining_ = true;
  bool failed_ = false;
  std::vector<Known> variables_;  // by number
  struct Waiting {
    Variable variable;
    std::vector<std::string> texts;
  };
  std::vector<Waiting> waiting_;  // names, put when the definitions are done
};

}  // namespace zwang
