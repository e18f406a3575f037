// Texts of formulas: sums of words with factors, products of directions fixed on bodies.
#pragma once

#include <Eigen/Dense>
#include <string>
#include <utility>
#include <vector>

namespace zwang {

// "2*a - b + 0.5": words with factors, and a number.
class SumText {
 public:
  SumText() = default;
  explicit SumText(double number) : number_(number) {}
  SumText(double factor, const std::string& word) { add(factor, word); }

  void add(double factor, const std::string& word);
  void add(double number) { number_ += number; }
  void add(double factor, const SumText& other);

  bool is_number() const { return terms_.empty(); }
  double number() const { return number_; }
  std::string text() const;
  // In parentheses if it has several terms.
  std::string factor_text() const;

 private:
  std::vector<std::pair<double, std::string>> terms_;
  double number_ = 0;
};

// One side of a joint: a body with a point on it, or the world with an anchor.
struct JointSide {
  std::string body;        // empty: the world
  std::string place;       // "arm.elbow", or the anchor
  Eigen::VectorXd anchor;  // of the world: where it is
};

// "arm.ex" and so on.
std::string axis_word(const std::string& body, Eigen::Index k);
// "arm.elbow.x" and so on.
std::string component_word(const std::string& place, Eigen::Index k);

// The product of two directions, each in the axes of its side.
SumText dot_text(const JointSide& a, const Eigen::VectorXd& u, const JointSide& b, const Eigen::VectorXd& v);
// The component, along a direction of the first side, of the way from the place of the first side to that of the other;
// and its rate.
SumText offset_text(const JointSide& a, const Eigen::VectorXd& u, const JointSide& b);
SumText offset_rate_text(const JointSide& a, const Eigen::VectorXd& u, const JointSide& b);
// The component of the angular velocity of `of` along a direction of a side, in space.
SumText spin_text(const JointSide& of, const JointSide& a, const Eigen::VectorXd& u);

// [1, 2.5, -3], without rounding errors of 0.
std::string list_of_numbers(const Eigen::VectorXd& v);
double tidy_number(double value);

}  // namespace zwang
