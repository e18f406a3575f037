// How members are drawn: the generator, the quantile functions, each distribution, and what a draw depends
// on.
//
// Seeds are fixed, so every run gives the same verdict. Statistical bounds are set for a false-alarm rate of
// 1e-6 per comparison: how often another seed would fail although nothing is wrong.
#include "host/sample/sample.h"

#include <Random123/philox.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>

#include "host/sample/philox.h"
#include "host/sample/quantile.h"
#include "host/sample/sampler.h"
#include "src/base/error.h"

namespace zwang::sample_test {
namespace {

using Kind = Distribution::Kind;

constexpr std::size_t draws = 100'000;
// Two-sided 1e-6 point of the standard normal, and upper 1e-6 point of chi-square with 99 degrees of freedom.
constexpr double normal_bound = 4.8916384757;
constexpr double chi_square_99_bound = 180.792015326;

template <class Container, class Function>
auto mapped(const Container& container, Function&& function) {
  std::vector<decltype(function(*container.begin()))> made;
  made.reserve(container.size());
  for (const auto& x : container) made.push_back(function(x));
  return made;
}

// Builds a Study by hand, without a file. Each call declares one parameter and returns its symbol.
class StudyMaker {
 public:
  Expressions& pool() { return *description_.pool; }
  Expr number(double value) { return pool().constant(value); }

  Expr expression(const std::string& name, Expr value) {
    study.parameters.push_back({.name = name, .value = value, .distribution = {}, .joint = {}});
    return declare(name);
  }
  Expr draw(const std::string& name, Kind kind, const std::vector<Expr>& arguments, long long points = 0) {
    study.parameters.push_back({.name = name,
                                .value = {},
                                .distribution = Distribution{kind, arguments, points, {}, {}, {}},
                                .joint = {}});
    return declare(name);
  }
  Expr draw(const std::string& name, Kind kind, const std::vector<double>& numbers, long long points = 0) {
    return draw(name, kind, constants(numbers), points);
  }
  Expr file(const std::string& name, const std::vector<double>& rows) {
    study.parameters.push_back({.name = name,
                                .value = {},
                                .distribution = Distribution{Kind::file, {}, 0, {}, {}, rows},
                                .joint = {}});
    return declare(name);
  }
  void joint(const std::vector<std::string>& names, const std::vector<Expr>& mean,
             const std::vector<std::vector<Expr>>& covariance) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      study.parameters.push_back({.name = names[i],
                                  .value = {},
                                  .distribution = {},
                                  .joint = study.joints.size(),
                                  .joint_component = i});
      declare(names[i]);
    }
    study.joints.push_back({names, mean, covariance});
  }
  void joint(const std::vector<std::string>& names, const std::vector<double>& mean,
             const std::vector<std::vector<double>>& covariance) {
    joint(names, constants(mean),
          mapped(covariance, [this](const std::vector<double>& row) { return constants(row); }));
  }
  void coordinate(const std::string& name, Expr position, Expr velocity) {
    description_.coordinates.push_back(name);
    study.initial_positions.push_back(position);
    study.initial_velocities.push_back(velocity);
  }
  void auxiliary(const std::string& name, Expr initial) {
    description_.auxiliaries.push_back(name);
    description_.rates.push_back(number(0));
    study.initial_auxiliaries.push_back(initial);
  }

  Study make() {
    study.path = "hand.toml";
    study.system = std::make_shared<const System>(description_);
    return study;
  }

  Study study;

 private:
  std::vector<Expr> constants(const std::vector<double>& numbers) {
    return mapped(numbers, [this](double x) { return number(x); });
  }
  Expr declare(const std::string& name) {
    description_.parameters.push_back(name);
    return pool().symbol(SymbolKind::parameter, description_.parameters.size() - 1);
  }

  Description description_;
};

Study study_of_one(Kind kind, const std::vector<double>& numbers, long long points = 0) {
  StudyMaker maker;
  maker.draw("x", kind, numbers, points);
  return maker.make();
}

std::vector<double> values_of(const Study& study, std::size_t parameter, std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t k = 0; k < count; ++k) values[k] = draw_member(study, k).parameters[parameter];
  return values;
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
}

// How many standard deviations the mean of the values is away from its expectation.
double mean_deviation(const std::vector<double>& values, double mean, double variance) {
  double sum = 0;
  for (const double x : values) sum += x - mean;
  const auto n = static_cast<double>(values.size());
  return sum / n / std::sqrt(variance / n);
}

// The same for the mean square distance from the mean, whose variance is (kurtosis - 1) variance^2.
double variance_deviation(std::vector<double> values, double mean, double variance, double kurtosis) {
  for (double& x : values) x = (x - mean) * (x - mean);
  return mean_deviation(values, variance, (kurtosis - 1) * variance * variance);
}

// Mean, variance and, through the cdf, seven quantiles.
void expect_distributed(const std::vector<double>& values, double mean, double variance, double kurtosis,
                        const std::function<double(double)>& cdf) {
  EXPECT_LT(std::abs(mean_deviation(values, mean, variance)), normal_bound) << "mean";
  EXPECT_LT(std::abs(variance_deviation(values, mean, variance, kurtosis)), normal_bound) << "variance";
  for (const double p : {0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99}) {
    const auto below = mapped(values, [&](double x) { return cdf(x) <= p ? 1.0 : 0.0; });
    EXPECT_LT(std::abs(mean_deviation(below, p, p * (1 - p))), normal_bound) << "quantile " << p;
  }
}

double normal_cdf(double x, double mean, double std) {
  return std::erfc(-(x - mean) / std / std::sqrt(2.0)) / 2;
}

// ----------------------------------------------------------------------------------------------------------
// The generator
// ----------------------------------------------------------------------------------------------------------

double uniform_of_words(std::uint32_t w0, std::uint32_t w1) {
  const std::uint64_t upper_52_bits = (std::uint64_t{w0} << 32 | w1) >> 12;
  return std::ldexp(static_cast<double>(upper_52_bits) + 0.5, -52);
}

TEST(UniformDraw, PhiloxGivesItsAuthorsKnownAnswers) {
  // kat_vectors of Random123, the lines philox4x32 10: counter, key, output.
  struct Known {
    r123::Philox4x32::ctr_type counter;
    r123::Philox4x32::key_type key;
    r123::Philox4x32::ctr_type output;
  };
  const Known known[] = {
      {{{0, 0, 0, 0}}, {{0, 0}}, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
      {{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}},
       {{0xffffffff, 0xffffffff}},
       {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
      {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
       {{0xa4093822, 0x299f31d0}},
       {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}},
  };
  for (const Known& k : known) EXPECT_EQ(r123::Philox4x32{}(k.counter, k.key), k.output);
}

TEST(UniformDraw, KeyAndCounterAreLaidOutAsPromised) {
  // Names found by search whose name word is that of the known answers: 0, ffffffff and 13198a2e.
  constexpr unsigned long long ones = std::numeric_limits<unsigned long long>::max();
  EXPECT_EQ(uniform_draw(0, 0, "khnmhzf", 0), uniform_of_words(0x6627e8d5, 0xe169c58d));
  EXPECT_EQ(uniform_draw(0, 0, "kjaghqz", 0), uniform_of_words(0x6627e8d5, 0xe169c58d));
  EXPECT_EQ(uniform_draw(ones, ones, "angufpj", 0xffffffff), uniform_of_words(0x408f276d, 0x41c83b0e));
  EXPECT_EQ(uniform_draw(0x299f31d0a4093822, 0x85a308d3243f6a88, "anlnwdm", 0x03707344),
            uniform_of_words(0xd16cfe09, 0x94fdcceb));
}

TEST(UniformDraw, EverythingItIsMadeOfChangesIt) {
  const std::set<double> different = {
      uniform_draw(1, 2, "x", 0),         uniform_draw(2, 2, "x", 0), uniform_draw(1ULL << 32 | 1, 2, "x", 0),
      uniform_draw(1, 3, "x", 0),         uniform_draw(1, 2, "y", 0), uniform_draw(1, 1ULL << 32 | 2, "x", 0),
      uniform_draw(1, 2, "x'", 0),        uniform_draw(1, 2, "", 0),  uniform_draw(1, 2, "x", 1),
      uniform_draw(1, 2, "x\xc3\xa4", 0), uniform_draw(2, 1, "x", 0),
  };
  EXPECT_EQ(different.size(), 11U);
  EXPECT_EQ(uniform_draw(1, 2, "x", 0), uniform_draw(1, 2, "x"));
}

// Chi-square of the counts in 100 equal cells.
double chi_square_99(const std::vector<std::size_t>& cells) {
  std::vector<double> counts(100, 0);
  for (const std::size_t cell : cells) counts[cell] += 1;
  const double expected = static_cast<double>(cells.size()) / 100;
  double sum = 0;
  for (const double count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

TEST(UniformDraw, FillsTheIntervalEvenly) {
  std::vector<std::size_t> cells;
  for (std::size_t k = 0; k < draws; ++k) {
    const double u = uniform_draw(1, k, "x");
    ASSERT_GT(u, 0);
    ASSERT_LT(u, 1);
    cells.push_back(static_cast<std::size_t>(100 * u));
  }
  EXPECT_LT(chi_square_99(cells), chi_square_99_bound);
}

TEST(UniformDraw, NeighboursInMemberNameSeedAndAttemptAreUnrelated) {
  const std::map<std::string, std::function<double(std::size_t)>> neighbours = {
      {"next member", [](std::size_t k) { return uniform_draw(1, k + 1, "x1"); }},
      {"tenth next member", [](std::size_t k) { return uniform_draw(1, k + 10, "x1"); }},
      {"next name", [](std::size_t k) { return uniform_draw(1, k, "x2"); }},
      {"velocity", [](std::size_t k) { return uniform_draw(1, k, "x1'"); }},
      {"next seed", [](std::size_t k) { return uniform_draw(2, k, "x1"); }},
      {"next attempt", [](std::size_t k) { return uniform_draw(1, k, "x1", 1); }},
  };
  for (const auto& [what, neighbour] : neighbours) {
    std::vector<double> products;
    std::vector<std::size_t> cells;
    for (std::size_t k = 0; k < draws; ++k) {
      const double u = uniform_draw(1, k, "x1"), w = neighbour(k);
      products.push_back(12 * (u - 0.5) * (w - 0.5));  // mean 0 and variance 1 when independent
      cells.push_back(10 * static_cast<std::size_t>(10 * u) + static_cast<std::size_t>(10 * w));
    }
    EXPECT_LT(std::abs(mean_deviation(products, 0, 1)), normal_bound) << what;
    EXPECT_LT(chi_square_99(cells), chi_square_99_bound) << what;
  }
}

// ----------------------------------------------------------------------------------------------------------
// Quantile functions
// ----------------------------------------------------------------------------------------------------------

TEST(NormalQuantile, AgreesWithSixtyDigits) {
  // The method's own error is about 1e-16; the rest is the rounding of log, sqrt and sixteen terms.
  constexpr double tolerance = 1e-15;
  // Roots of erfc(-z / sqrt(2)) / 2 = u, for the double nearest to the u written, computed in 60 digits.
  constexpr double reference[][2] = {
      {5e-324, -38.467405617144346251},
      {1e-320, -38.269125343032651018},
      {2.2250738585072014e-308, -37.519379347144499821},
      {1e-300, -37.047096299361199237},
      {1e-250, -33.79958617269483747},
      {1e-200, -30.205594179579643063},
      {1e-150, -26.122961190593983509},
      {1e-100, -21.273453560965324294},
      {1e-50, -14.933337534788488981},
      {1e-30, -11.46402468844361572},
      {1e-20, -9.2623400897984075796},
      {1e-16, -8.2220822161304356152},
      {1e-12, -7.0344838253011319326},
      {1.3887943864964021e-11, -6.6579046435011035837},
      {1e-10, -6.3613409024040561991},
      {1e-8, -5.6120012441747887279},
      {1e-6, -4.7534243088228989573},
      {1e-5, -4.2648907939228246102},
      {1e-4, -3.7190164854556805523},
      {0.001, -3.0902323061678135354},
      {0.01, -2.3263478740408410931},
      {0.025, -1.9599639845400542118},
      {0.05, -1.644853626951472688},
      {0.07, -1.4757910281791706856},
      {0.075, -1.4395314709384559349},
      {0.08, -1.4050715603096325447},
      {0.1, -1.2815515655446004353},
      {0.15, -1.0364333894937896035},
      {0.2, -0.84162123357291416552},
      {0.25, -0.6744897501960817432},
      {0.3, -0.52440051270804081597},
      {0.4, -0.25334710313579974132},
      {0.45, -0.12566134685507400616},
      {0.49, -0.025068908258711058033},
      {0.499, -0.0025066308995717662317},
      {0.4999999, -2.5066282747031065135e-7},
      {0.49999999999, -2.5066284820303539022e-11},
      {0.5000000001, 2.5066284820303539022e-10},
      {0.501, 0.0025066308995717662317},
      {0.55, 0.12566134685507414641},
      {0.6, 0.25334710313579974132},
      {0.75, 0.6744897501960817432},
      {0.9, 1.2815515655446005935},
      {0.924, 1.43250272082581191},
      {0.926, 1.446632067158978807},
      {0.975, 1.9599639845400538556},
      {0.99, 2.3263478740408407676},
      {0.999, 3.0902323061678132778},
      {0.999999, 4.7534243088170877657},
      {0.9999999999, 6.3613408896974218642},
      {0.99999999999999, 7.6507309051556429563},
      {1.1102230246251565e-16, -8.2095361516013868556},
      {0.9999999999999999, 8.2095361516013868556},
  };
  for (const auto& [u, z] : reference) EXPECT_NEAR(normal_quantile(u), z, tolerance * std::abs(z)) << u;
}

TEST(NormalQuantile, IsSymmetricAndEndsAtInfinity) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(normal_quantile(0.5), 0);
  EXPECT_EQ(normal_quantile(0), -infinity);
  EXPECT_EQ(normal_quantile(1), infinity);
  // Where 1 - u is exact, the symmetry is exact too, down to the smallest possible draw.
  for (double u = 0.25; u >= 0x1p-53; u /= 2) EXPECT_EQ(normal_quantile(1 - u), -normal_quantile(u)) << u;
}

TEST(NormalQuantile, RisesAcrossTheSeamsOfItsFormulas) {
  // |u - 1/2| = 0.425 and u = exp(-25), where the formula changes.
  for (const double seam : {0.075, 0.925, std::exp(-25.0)})
    for (int i = -50; i < 50; ++i) {
      const double step = 1e-13 * seam;  // moves z by at least 16 units in the last place, 4 times its error
      EXPECT_LT(normal_quantile(seam + i * step), normal_quantile(seam + (i + 1) * step)) << seam << " " << i;
    }
}

TEST(Quantiles, InvertTheirCdfs) {
  constexpr double rounding = 1e-15;
  for (const double u : {1e-12, 0.01, 0.3, 0.5, 0.77, 0.999}) {
    EXPECT_NEAR(uniform_quantile(-1, 3, u), -1 + 4 * u, 4 * rounding);
    const double x = exponential_quantile(2, u);
    EXPECT_NEAR(-std::expm1(-x / 2), u, 4 * rounding * u);
    const double y = triangular_quantile(1, 2, 5, u);
    EXPECT_NEAR(y <= 2 ? (y - 1) * (y - 1) / 4 : 1 - (5 - y) * (5 - y) / 12, u, 4 * rounding);
  }
}

TEST(Quantiles, StayWithinTheirRange) {
  constexpr double largest = 1 - 0x1p-53, smallest = 0x1p-53;
  for (const double u : {smallest, 0.5, largest}) {
    EXPECT_LE(uniform_quantile(-0.1, 0.7, u), 0.7);
    EXPECT_GE(uniform_quantile(-0.1, 0.7, u), -0.1);
    EXPECT_EQ(uniform_quantile(0.7, 0.7, u), 0.7);
    EXPECT_EQ(triangular_quantile(0.7, 0.7, 0.7, u), 0.7);
    for (const double m : {-0.1, 0.3, 0.7}) {
      EXPECT_LE(triangular_quantile(-0.1, m, 0.7, u), 0.7);
      EXPECT_GE(triangular_quantile(-0.1, m, 0.7, u), -0.1);
    }
  }
}

// ----------------------------------------------------------------------------------------------------------
// What a draw depends on
// ----------------------------------------------------------------------------------------------------------

TEST(DrawMember, IsTheSameWhateverTheNumberOfMembersAndTheOrder) {
  StudyMaker maker;
  maker.draw("a", Kind::normal, {1.0, 0.2});
  maker.draw("b", Kind::uniform, {0.0, 1.0});
  Study study = maker.make();
  study.ensemble.members = 10;
  const std::vector<double> seventh = draw_member(study, 7).parameters;
  for (unsigned long long k = 0; k < 10; ++k) draw_member(study, k);
  study.ensemble.members = 1'000'000;
  EXPECT_EQ(draw_member(study, 7).parameters, seventh);
}

TEST(DrawMember, ANewParameterLeavesTheOthersAlone) {
  StudyMaker few, more;
  few.draw("a", Kind::normal, {1.0, 0.2});
  more.draw("new", Kind::normal, {1.0, 0.2});
  more.draw("a", Kind::normal, {1.0, 0.2});
  const Study first = few.make(), second = more.make();
  EXPECT_EQ(draw_member(first, 3).parameters[0], draw_member(second, 3).parameters[1]);
  EXPECT_NE(draw_member(second, 3).parameters[0], draw_member(second, 3).parameters[1]);
}

TEST(DrawMember, SeedAndAttemptDrawAgain) {
  Study study = study_of_one(Kind::uniform, {0, 1});
  const double first = draw_member(study, 3).parameters[0];
  EXPECT_EQ(first, uniform_draw(1, 3, "x"));
  EXPECT_EQ(draw_member(study, 3, 1).parameters[0], uniform_draw(1, 3, "x", 1));
  study.ensemble.seed = 2;
  EXPECT_EQ(draw_member(study, 3).parameters[0], uniform_draw(2, 3, "x"));
}

TEST(DrawMember, ExpressionsSeeTheDrawsBeforeThem) {
  StudyMaker maker;
  const Expr base = maker.expression("base", maker.number(3));
  const Expr width = maker.draw("width", Kind::uniform, {1.0, 2.0});
  const Expr twice = maker.expression("twice", maker.pool().multiply(maker.number(2), width));
  maker.draw("x", Kind::uniform, {base, maker.pool().add(base, twice)});
  const Study study = maker.make();
  for (unsigned long long k = 0; k < 100; ++k) {
    const std::vector<double> p = draw_member(study, k).parameters;
    ASSERT_EQ(p.size(), 4U);
    EXPECT_EQ(p[0], 3);
    EXPECT_EQ(p[1], 1 + uniform_draw(1, k, "width"));
    EXPECT_EQ(p[2], 2 * p[1]);
    EXPECT_EQ(p[3], uniform_quantile(3, 3 + p[2], uniform_draw(1, k, "x")));
  }
}

TEST(DrawMember, TheStartIsEvaluatedAtTimeZeroWithTheMembersParameters) {
  StudyMaker maker;
  Expressions& pool = maker.pool();
  const Expr length = maker.draw("length", Kind::uniform, {1.0, 2.0});
  const Expr speed = maker.draw("phi'", Kind::normal, {0.0, 1.0});
  maker.coordinate("phi", pool.negate(length), speed);
  maker.coordinate("r", pool.apply(Op::cos, pool.time()), maker.number(0));
  maker.auxiliary("p", pool.square(length));
  const Study study = maker.make();
  const MemberInputs member = draw_member(study, 5);
  const double drawn = member.parameters[0];
  EXPECT_EQ(member.start.t, 0);
  EXPECT_EQ(member.start.q, Eigen::Vector2d(-drawn, 1));
  EXPECT_EQ(member.start.v, Eigen::Vector2d(member.parameters[1], 0));
  ASSERT_EQ(member.start.z.size(), 1);
  EXPECT_EQ(member.start.z(0), drawn * drawn);
}

TEST(DrawMember, AnUndefinedExpressionIsLeftToTheIntegrator) {
  StudyMaker maker;
  const Expr x = maker.draw("x", Kind::uniform, {-2.0, -1.0});
  maker.expression("root", maker.pool().apply(Op::sqrt, x));
  EXPECT_TRUE(std::isnan(draw_member(maker.make(), 0).parameters[1]));
}

TEST(DrawnInputs, AreTheDistributionsAndTheJoints) {
  StudyMaker maker;
  maker.expression("g", maker.number(9.81));
  maker.draw("m", Kind::normal, {1.0, 0.1});
  maker.expression("h", maker.number(2));
  maker.joint({"a", "b"}, {0, 0}, {{1, 0}, {0, 1}});
  EXPECT_EQ(drawn_inputs(maker.make()), (std::vector<std::size_t>{1, 3, 4}));
}

// ----------------------------------------------------------------------------------------------------------
// Each distribution
// ----------------------------------------------------------------------------------------------------------

TEST(Distributions, UniformHasItsMomentsAndQuantiles) {
  const auto values = values_of(study_of_one(Kind::uniform, {-1, 3}), 0, draws);
  expect_distributed(values, 1, 16.0 / 12, 1.8, [](double x) { return (x + 1) / 4; });
}

TEST(Distributions, NormalHasItsMomentsAndQuantiles) {
  const auto values = values_of(study_of_one(Kind::normal, {5, 0.5}), 0, draws);
  expect_distributed(values, 5, 0.25, 3, [](double x) { return normal_cdf(x, 5, 0.5); });
}

TEST(Distributions, LognormalHasItsMomentsAndQuantiles) {
  const double s2 = 0.25 * 0.25;
  const double mean = std::exp(1 + s2 / 2), variance = std::expm1(s2) * std::exp(2 + s2);
  const double kurtosis = std::exp(4 * s2) + 2 * std::exp(3 * s2) + 3 * std::exp(2 * s2) - 3;
  const auto values = values_of(study_of_one(Kind::lognormal, {1, 0.25}), 0, draws);
  expect_distributed(values, mean, variance, kurtosis,
                     [](double x) { return normal_cdf(std::log(x), 1, 0.25); });
}

TEST(Distributions, TriangularHasItsMomentsAndQuantiles) {
  const double a = 1, m = 2, b = 5;
  const double variance = (a * a + m * m + b * b - a * m - a * b - m * b) / 18;
  const auto values = values_of(study_of_one(Kind::triangular, {a, m, b}), 0, draws);
  expect_distributed(values, (a + m + b) / 3, variance, 2.4,
                     [](double x) { return x <= 2 ? (x - 1) * (x - 1) / 4 : 1 - (5 - x) * (5 - x) / 12; });
}

TEST(Distributions, ExponentialHasItsMomentsAndQuantiles) {
  const auto values = values_of(study_of_one(Kind::exponential, {2}), 0, draws);
  expect_distributed(values, 2, 4, 9, [](double x) { return -std::expm1(-x / 2); });
}

TEST(Distributions, ChoiceTakesItsEntriesEquallyOften) {
  const std::vector<double> entries = {4, -1, 2.5};
  const auto values = values_of(study_of_one(Kind::choice, entries), 0, draws);
  for (std::size_t k = 0; k < draws; ++k)
    ASSERT_EQ(values[k], entries[static_cast<std::size_t>(std::floor(3 * uniform_draw(1, k, "x")))]);
  for (const double entry : entries) {
    const auto is_entry = mapped(values, [&](double x) { return x == entry ? 1.0 : 0.0; });
    EXPECT_LT(std::abs(mean_deviation(is_entry, 1.0 / 3, 2.0 / 9)), normal_bound) << entry;
  }
}

TEST(Distributions, WithoutSpreadTheyAreTheirCentre) {
  EXPECT_EQ(draw_member(study_of_one(Kind::uniform, {2, 2}), 1).parameters[0], 2);
  EXPECT_EQ(draw_member(study_of_one(Kind::normal, {2, 0}), 1).parameters[0], 2);
  EXPECT_EQ(draw_member(study_of_one(Kind::lognormal, {0, 0}), 1).parameters[0], 1);
  EXPECT_EQ(draw_member(study_of_one(Kind::triangular, {2, 2, 2}), 1).parameters[0], 2);
}

TEST(Grid, CoversEachCombinationOnceTheLastVaryingFastest) {
  StudyMaker maker;
  maker.draw("a", Kind::grid, {0.0, 1.0}, 3);
  maker.draw("noise", Kind::normal, {0.0, 1.0});
  maker.draw("b", Kind::grid, {10.0, 20.0}, 2);
  maker.draw("c", Kind::grid, {-1.0, 2.0}, 4);
  const Study study = maker.make();
  unsigned long long member = 0;
  for (const double a : {0.0, 0.5, 1.0})
    for (const double b : {10.0, 20.0})
      for (const double c : {-1.0, 0.0, 1.0, 2.0}) {
        const std::vector<double> p = draw_member(study, member++).parameters;
        EXPECT_EQ((std::vector<double>{p[0], p[2], p[3]}), (std::vector<double>{a, b, c}));
      }
  EXPECT_EQ(member, 24U);
  const std::string error = error_of([&] { draw_member(study, 24); });
  expect_contains(error, "'a', 'b' and 'c' of member 24");
  expect_contains(error, "24 combinations");
}

TEST(Grid, HitsBothEndsExactlyMayRunDownwardsAndWithOnePointIsTheMiddle) {
  // In doubles 0.3 + (0.9 - 0.3) is not 0.9.
  const Study study = study_of_one(Kind::grid, {0.3, 0.9}, 10);
  EXPECT_EQ(draw_member(study, 0).parameters[0], 0.3);
  EXPECT_EQ(draw_member(study, 9).parameters[0], 0.9);
  const Study down = study_of_one(Kind::grid, {1, -1}, 3);
  EXPECT_EQ(values_of(down, 0, 3), (std::vector<double>{1, 0, -1}));
  EXPECT_EQ(draw_member(study_of_one(Kind::grid, {1, 2}, 1), 0).parameters[0], 1.5);
}

TEST(Grid, StartsAfterTheNominalMember) {
  Study study = study_of_one(Kind::grid, {0, 3}, 4);
  study.ensemble.include_nominal = true;
  EXPECT_EQ(values_of(study, 0, 5), (std::vector<double>{1.5, 0, 1, 2, 3}));
}

TEST(Grid, ItsEndsMayDependOnEarlierParameters) {
  StudyMaker maker;
  const Expr a = maker.draw("a", Kind::uniform, {0.0, 1.0});
  maker.draw("x", Kind::grid, {a, maker.number(3)}, 2);
  const Study study = maker.make();
  EXPECT_EQ(draw_member(study, 0).parameters[1], uniform_draw(1, 0, "a"));
  EXPECT_EQ(draw_member(study, 1).parameters[1], 3);
}

TEST(File, GivesRowKToMemberKUntilItRunsOut) {
  StudyMaker maker;
  maker.file("vx", {3, 1, 4});
  Study study = maker.make();
  EXPECT_EQ(values_of(study, 0, 3), (std::vector<double>{3, 1, 4}));
  study.ensemble.include_nominal = true;
  EXPECT_EQ(values_of(study, 0, 3), (std::vector<double>{3, 1, 4}));
  const std::string error = error_of([&] { draw_member(study, 3); });
  expect_contains(error, "'vx' of member 3");
  expect_contains(error, "3 rows");
}

// ----------------------------------------------------------------------------------------------------------
// Correlated normals
// ----------------------------------------------------------------------------------------------------------

TEST(JointNormals, ReproduceMeanAndCovariance) {
  const std::vector<double> mean = {1, -2, 0.5};
  const std::vector<std::vector<double>> C = {{4, 1.2, -0.6}, {1.2, 1, 0.3}, {-0.6, 0.3, 0.9}};
  StudyMaker maker;
  maker.joint({"a", "b", "c"}, mean, C);
  const Study study = maker.make();
  std::vector<std::vector<double>> x;
  for (std::size_t k = 0; k < draws; ++k) x.push_back(draw_member(study, k).parameters);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto values = mapped(x, [&](const std::vector<double>& p) { return p[i]; });
    expect_distributed(values, mean[i], C[i][i], 3,
                       [&](double value) { return normal_cdf(value, mean[i], std::sqrt(C[i][i])); });
    for (std::size_t j = 0; j < i; ++j) {
      // The product of two centred normals has mean C_ij and variance C_ii C_jj + C_ij^2.
      const auto products =
          mapped(x, [&](const std::vector<double>& p) { return (p[i] - mean[i]) * (p[j] - mean[j]); });
      EXPECT_LT(std::abs(mean_deviation(products, C[i][j], C[i][i] * C[j][j] + C[i][j] * C[i][j])),
                normal_bound)
          << i << " with " << j;
    }
  }
}

TEST(JointNormals, WithoutCorrelationAreTheNormalsOfTheirNames) {
  StudyMaker joint, alone;
  joint.joint({"a", "b"}, {1, 2}, {{0.25, 0}, {0, 4}});
  alone.draw("a", Kind::normal, {1.0, 0.5});
  alone.draw("b", Kind::normal, {2.0, 2.0});
  EXPECT_EQ(draw_member(joint.make(), 4).parameters, draw_member(alone.make(), 4).parameters);
}

TEST(JointNormals, MayBeSingular) {
  StudyMaker maker;
  // b = 2 a, d is fixed, e = a - c: rank 2 of 5.
  maker.joint({"a", "b", "c", "d", "e"}, {0, 0, 0, 7, 0},
              {{0.01, 0.02, 0, 0, 0.01},
               {0.02, 0.04, 0, 0, 0.02},
               {0, 0, 0.09, 0, -0.09},
               {0, 0, 0, 0, 0},
               {0.01, 0.02, -0.09, 0, 0.1}});
  const Study study = maker.make();
  constexpr double rounding = 1e-14;  // of numbers below 1, summed a few times
  for (unsigned long long k = 0; k < 100; ++k) {
    const std::vector<double> p = draw_member(study, k).parameters;
    EXPECT_NE(p[0], 0);
    EXPECT_NEAR(p[1], 2 * p[0], rounding);
    EXPECT_EQ(p[3], 7);
    EXPECT_NEAR(p[4], p[0] - p[2], rounding);
  }
}

TEST(JointNormals, TheirNumbersMayDependOnTheMember) {
  StudyMaker maker;
  Expressions& pool = maker.pool();
  const Expr s = maker.draw("s", Kind::uniform, {1.0, 2.0});
  const Expr variance = pool.square(s);
  maker.joint({"a", "b"}, {s, maker.number(0)}, {{variance, variance}, {variance, variance}});
  const std::vector<double> p = draw_member(maker.make(), 6).parameters;
  const double z = normal_quantile(uniform_draw(1, 6, "a"));
  EXPECT_NEAR(p[1], p[0] + p[0] * z, 1e-14);  // rounding
  EXPECT_NEAR(p[2], p[0] * z, 1e-14);
}

TEST(JointNormals, AnImpossibleCovarianceIsRefused) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::map<std::string, std::vector<std::vector<double>>> impossible = {
      {"negative variance", {{-1, 0}, {0, 1}}},
      {"correlation above 1", {{1, 1.01}, {1.01, 1}}},
      {"correlation with a constant", {{0, 0.1}, {0.1, 1}}},
      {"not symmetric", {{1, 0.5}, {0.4, 1}}},
      {"not finite", {{1, 0}, {0, infinity}}},
  };
  for (const auto& [what, covariance] : impossible) {
    StudyMaker maker;
    maker.joint({"a", "b"}, {0, 0}, covariance);
    const Study study = maker.make();
    const std::string error = error_of([&] { draw_member(study, 12); });
    SCOPED_TRACE(what);
    expect_contains(error, "'a' and 'b' of member 12");
  }
}

// ----------------------------------------------------------------------------------------------------------
// The nominal member, and mistakes
// ----------------------------------------------------------------------------------------------------------

TEST(NominalMember, HasEveryDistributionAtItsCentre) {
  StudyMaker maker;
  maker.draw("uniform", Kind::uniform, {1.0, 2.0});
  maker.draw("normal", Kind::normal, {3.0, 1.0});
  maker.draw("lognormal", Kind::lognormal, {0.5, 1.0});
  maker.draw("triangular", Kind::triangular, {0.0, 1.0, 5.0});
  maker.draw("exponential", Kind::exponential, {maker.number(4)});
  maker.draw("choice", Kind::choice, {7.0, 8.0});
  maker.draw("grid", Kind::grid, {0.0, 1.0}, 2);
  maker.file("file", {6, 5});
  maker.joint({"a", "b"}, {1, 2}, {{1, 0.5}, {0.5, 1}});
  const Expr twice = maker.pool().multiply(maker.number(2), maker.pool().symbol(SymbolKind::parameter, 0));
  maker.expression("twice", twice);
  maker.coordinate("q", twice, maker.number(0));
  Study study = maker.make();
  const std::vector<double> centres = {1.5, 3, std::exp(0.5), 1, 4, 7, 0.5, 6, 1, 2, 3};
  EXPECT_EQ(nominal_member(study).parameters, centres);
  EXPECT_EQ(nominal_member(study).start.q(0), 3);

  // With include_nominal it is member 0 at every attempt; otherwise no member is nominal.
  EXPECT_NE(draw_member(study, 0).parameters, centres);
  const double first_drawn = draw_member(study, 1).parameters[0];
  study.ensemble.include_nominal = true;
  EXPECT_EQ(draw_member(study, 0).parameters, centres);
  EXPECT_EQ(draw_member(study, 0, 3).parameters, centres);
  EXPECT_EQ(draw_member(study, 1).parameters[0], first_drawn);
}

TEST(Mistakes, ImpossibleNumbersNameTheParameterAndTheMember) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  struct Case {
    Kind kind;
    std::vector<double> numbers;
    std::string found, expected;
  };
  const Case cases[] = {
      {Kind::uniform, {2, 1}, "uniform = [2, 1]", "a <= b"},
      {Kind::uniform, {-1e308, 1e308}, "uniform = [-1e+308, 1e+308]", "finite"},
      {Kind::normal, {0, -0.5}, "normal = { mean = 0, std = -0.5 }", "std >= 0"},
      {Kind::normal, {infinity, 1}, "normal = { mean = inf, std = 1 }", "finite mean"},
      {Kind::lognormal, {0, -1}, "lognormal = { mean = 0, std = -1 }", "std >= 0"},
      {Kind::triangular, {0, 3, 2}, "triangular = [0, 3, 2]", "a <= m <= b"},
      {Kind::triangular, {1, 0, 2}, "triangular = [1, 0, 2]", "a <= m <= b"},
      {Kind::exponential, {0}, "exponential = { mean = 0 }", "mean > 0"},
      {Kind::choice, {1, infinity}, "choice = [1, inf]", "finite"},
      {Kind::grid, {0, infinity}, "grid = [0, inf, 50]", "finite"},
  };
  for (const Case& c : cases) {
    const Study study = study_of_one(c.kind, c.numbers, 50);
    const std::string error = error_of([&] { draw_member(study, 42); });
    expect_contains(error, "hand.toml: error: 'x' of member 42");
    expect_contains(error, c.found);
    expect_contains(error, c.expected);
    expect_contains(error_of([&] { nominal_member(study); }), "'x' of the nominal member");
  }
}

TEST(Mistakes, OnlyTheMembersConcernedAreRefused) {
  StudyMaker maker;
  const Expr std = maker.draw("std", Kind::choice, {1.0, -1.0});
  maker.draw("x", Kind::normal, {maker.number(0), std});
  const Study study = maker.make();
  int refused = 0;
  for (unsigned long long k = 0; k < 100; ++k) {
    const bool impossible = uniform_draw(1, k, "std") >= 0.5;
    EXPECT_EQ(error_of([&] { draw_member(study, k); }).empty(), !impossible) << k;
    refused += impossible ? 1 : 0;
  }
  EXPECT_GT(refused, 0);
  EXPECT_LT(refused, 100);
}

}  // namespace
}  // namespace zwang::sample_test
