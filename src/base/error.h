// A user's mistake: where it is, what was found, what was expected, and a hint.
#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace zwang {

struct Location {
  std::string file;
  int line = 0;    // from 1; 0 = unknown
  int column = 0;  // from 1, in characters
};

struct Problem {
  Location where{};
  std::string message{};   // what is wrong, in one clause
  std::string found{};     // the offending text or value
  std::string expected{};  // what would have been right
  std::string hint{};      // may be empty

  std::string text() const;
};

// Carries every separate problem, in the order of the file.
class Error : public std::exception {
 public:
  explicit Error(Problem problem) : Error(std::vector<Problem>{std::move(problem)}) {}
  explicit Error(std::vector<Problem> problems);

  const std::vector<Problem>& problems() const { return problems_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::vector<Problem> problems_;
  std::string text_;
};

// The candidate nearest to `word` by edit distance, or "" when none is near enough.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

// "did you mean 'x'?", or "" when nothing is near.
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);

// Shortest text that reads back as the same double.
std::string number_text(double value);

// a, b, c
std::string joined(const std::vector<std::string>& words);

// a, b and c
std::string list_text(const std::vector<std::string>& words, std::string_view last = "and");

}  // namespace zwang
