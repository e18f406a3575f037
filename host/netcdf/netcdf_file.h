// Writer of a NetCDF-4 file: wraps the C library, reports failures as MachineError and closes the file.
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
  // Identifiers assigned by the file.
  struct Dimension {
    int id;
    std::size_t size;
  };
  struct Variable {
    int id;
    std::string name;
  };

  // Type of a variable. Doubles that are not written read as NaN, integers as -1.
  enum class Type { real, integer, byte, text, character };
  struct Shape {
    std::vector<Dimension> dimensions;
    // By dimension; empty: contiguous, or the library's choice. Whole chunks should be written at once where
    // possible.
    std::vector<std::size_t> chunks = {};
    bool deflate = false;
    bool may_be_missing = false;  // for integers: -1 is the fill value, shown as missing by readers
  };

  // Creates the file, replacing an existing one.
  explicit NetcdfFile(std::filesystem::path path);
  NetcdfFile(const NetcdfFile&) = delete;
  NetcdfFile& operator=(const NetcdfFile&) = delete;
  ~NetcdfFile();  // a file that was not closed is incomplete

  // --- Definitions, before the first put ---
  // A length of 0 makes the dimension unlimited: NetCDF has no other empty dimension.
  Dimension dimension(const std::string& name, std::size_t size);
  Variable variable(const std::string& name, Type type, const Shape& shape, const std::string& long_name);
  // A dimension with a coordinate variable of the same name that holds one text per index.
  Dimension names(const std::string& name, const std::vector<std::string>& texts,
                  const std::string& long_name);

  // Attributes of the file, then of a variable.
  void attribute(const std::string& name, const std::string& text);
  void attribute(const std::string& name, unsigned long long number);
  void attribute(const Variable& variable, const std::string& name, const std::string& text);
  void attribute(const Variable& variable, const std::string& name, double number);
  void attribute(const Variable& variable, const std::string& name, long long number);
  // CF flags: flag_values 0, 1, 2 ... and one word for each.
  void flags(const Variable& variable, Type type, const std::vector<std::string>& meanings);

  // From now on variables get these dimensions before their own; none ends that. Such variables hold one
  // array for each combination of the leading indices.
  void lead_with(std::vector<Dimension> dimensions) { leading_ = std::move(dimensions); }

  // --- Data ---
  // The combination of leading indices to which the following data belong, the first dimension slowest. Whole
  // arrays are collected, in order from the first combination to the last, and written together.
  void at_combination(std::size_t number) { combination_ = number; }
  // All values, or the part that begins at `start` and has length `count` in each dimension.
  void put(const Variable& variable, std::span<const double> values);
  void put(const Variable& variable, std::span<const long long> values);
  void put(const Variable& variable, std::span<const std::string> values);
  // Texts as rows of characters, padded with zeros: their last dimension is that of the characters. Much faster
  // than variables of type text, whose every value is an object of its own in the file.
  void put_characters(const Variable& variable, std::span<const std::string> texts);
  using Place = std::vector<std::size_t>;
  void put(const Variable& variable, const Place& start, const Place& count, std::span<const double> values);
  void put(const Variable& variable, const Place& start, const Place& count,
           std::span<const long long> values);
  void put(const Variable& variable, const Place& start, const Place& count,
           std::span<const signed char> values);
  void put(const Variable& variable, const Place& start, const Place& count,
           std::span<const std::string> values);

  // When this returns, everything is in the file.
  void close();

 private:
  struct Known {
    std::vector<Dimension> leading, dimensions;
    // Arrays put so far, until there is one for each combination of the leading indices.
    std::vector<double> reals;
    std::vector<long long> integers;
  };

  // `work` names the operation for the message.
  void require(int code, const std::string& work);
  void set_fill(const Variable& variable, Type type, const Shape& shape);
  void set_storage(const Variable& variable, const Shape& shape);
  Place whole(const Variable& variable) const;
  template <class Number>
  void put_whole(const Variable& variable, std::span<const Number> values, std::vector<Number>& collected);
  template <class Number, class Write>
  void put_part(const Variable& variable, const Place& start, const Place& count,
                std::span<const Number> values, const Write& write);
  void begin_data();

  std::filesystem::path path_;
  int id_ = -1;
  bool defining_ = true;
  bool failed_ = false;
  std::vector<Dimension> leading_;
  std::size_t combination_ = 0;
  std::vector<Known> variables_;  // by identifier
  struct Waiting {
    Variable variable;
    std::vector<std::string> texts;
  };
  std::vector<Waiting> waiting_;  // names, written after the definitions
};

}  // namespace zwang
