// Expressions as a reader would write them, in plain text and in LaTeX.
#include "src/expression/readable.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/system_builder.h"

namespace zwang::readable_test {
namespace {

class ReadableTest : public ::testing::Test {
 protected:
  ReadableTest() {
    builder.parameter("L", 2).parameter("mass", 3).parameter("omega", 1);
    builder.coordinate("x", 1, 1).coordinate("phi", 1, 1);
    builder.point("load", "mass", {1, 2});
  }
  std::string read(const std::string& formula, Notation notation = Notation::plain) {
    const Expr e = builder.formula(formula);
    const Mechanism made = builder.make();
    return readable_text(*made.system->pool, e, made.system->namer(), notation);
  }
  SystemBuilder builder;
};

TEST_F(ReadableTest, NumbersAreMultipliedOutAndCancelled) {
  EXPECT_EQ(read("0.5*mass*2"), "mass");
  EXPECT_EQ(read("2*(load.x - L*sin(omega*t))/(2*L)"), "(load.x - L*sin(omega*t))/L");
  EXPECT_EQ(read("(-(2*x))*x'"), "-2*x*x'");
  EXPECT_EQ(read("0.2*9.81*x"), "1.962*x");
}

TEST_F(ReadableTest, LikeTermsAndFactorsAreJoined) {
  EXPECT_EQ(read("x + phi + x"), "2*x + phi");
  EXPECT_EQ(read("x*phi - phi*x"), "0");
  EXPECT_EQ(read("x*x*x/L/L"), "x^3/L^2");
  EXPECT_EQ(read("(x - phi)*x' + (-x + phi)*phi'"), "(x - phi)*x' - (x - phi)*phi'");
}

TEST_F(ReadableTest, ParenthesesStayWhereTheyAreNeeded) {
  EXPECT_EQ(read("(x + phi)^2"), "(x + phi)^2");
  EXPECT_EQ(read("L*(x + phi)"), "L*(x + phi)");
  EXPECT_EQ(read("x - (phi - L)"), "x - phi + L");
  EXPECT_EQ(read("(x + 1)^0.5"), "(x + 1)^0.5");
  EXPECT_EQ(read("1/(x*phi)"), "1/(x*phi)");
}

TEST_F(ReadableTest, LatexHasFractionsRootsAndGreekLetters) {
  EXPECT_EQ(read("sqrt(phi')/L", Notation::latex), "\\frac{\\sqrt{\\dot{\\phi}}}{L}");
  EXPECT_EQ(read("load.x'*mass", Notation::latex), "\\dot{x}_{\\mathrm{load}}\\,\\mathrm{mass}");
  EXPECT_EQ(read("sin(x)^2", Notation::latex), "\\sin\\left(x\\right)^{2}");
}

// Long chains of operations neither recurse nor take quadratic time, and the text is cut.
TEST_F(ReadableTest, LongFormulasAreCut) {
  for (const char* piece : {" + sin(x)*", "*cos(phi)*"}) {
    std::string formula = "x";
    for (int k = 0; k < 3000; ++k) formula += std::string(piece) + std::to_string(k) + "1";
    const std::string text = read(formula);
    EXPECT_LE(text.size(), 700u);
  }
  std::string nested;
  for (int k = 0; k < 150; ++k) nested += "sin(";
  EXPECT_NE(read(nested + "x" + std::string(150, ')')).find("..."), std::string::npos);
}

}  // namespace
}  // namespace zwang::readable_test
