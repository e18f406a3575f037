// Coefficients and steps of tsit5 and rk4.
#include "src/reference/runge_kutta.h"

namespace zwang {

namespace {

// Ch. Tsitouras, Runge-Kutta pairs of order 5(4) satisfying only the first column simplifying assumption,
// Computers & Mathematics with Applications 62 (2011) 770-775, table 1.
constexpr double nodes[6] = {0.161, 0.327, 0.9, 0.9800255409045097, 1, 1};
constexpr double stages[6][6] = {
    {0.161},
    {-0.008480655492356989, 0.335480655492357},
    {2.8971530571054935, -6.359448489975075, 4.3622954328695815},
    {5.325864828439257, -11.748883564062828, 7.4955393428898365, -0.09249506636175525},
    {5.86145544294642, -12.92096931784711, 8.159367898576159, -0.071584973281401, -0.028269050394068383},
    {0.09646076681806523, 0.01, 0.4798896504144996, 1.379008574103742, -3.290069515436081,
     2.324710524099774}};
// Fifth minus fourth order weights.
constexpr double error_weights[7] = {-0.00178001105222577714, -0.0008164344596567469, 0.007880878010261995,
                                     -0.1447110071732629,     0.5823571654525552,     -0.45808210592918697,
                                     0.015151515151515152};

Step tsit5(const RightSide& f, double t, const Eigen::VectorXd& y, const Eigen::VectorXd& first, double h) {
  Step step{.t = t, .h = h, .start = y, .end = {}, .error = {}, .rates = {}, .cubic = false};
  step.rates[0] = first;
  for (std::size_t s = 0; s < 6; ++s) {
    Eigen::VectorXd increment = stages[s][0] * step.rates[0];
    for (std::size_t j = 1; j <= s; ++j) increment += stages[s][j] * step.rates[j];
    step.end = y + h * increment;
    step.status = f(t + nodes[s] * h, step.end, step.rates[s + 1]);
    if (step.status != Status::ok) return step;
  }
  step.error = error_weights[0] * step.rates[0];
  for (std::size_t j = 1; j < 7; ++j) step.error += error_weights[j] * step.rates[j];
  step.error *= h;
  return step;
}

Step rk4(const RightSide& f, double t, const Eigen::VectorXd& y, const Eigen::VectorXd& first, double h) {
  Step step{.t = t, .h = h, .start = y, .end = {}, .error = {}, .rates = {}, .cubic = false};
  step.rates[0] = first;
  const auto evaluate = [&](double at, const Eigen::VectorXd& stage, Eigen::VectorXd& rate) {
    step.status = f(at, stage, rate);
    return step.status == Status::ok;
  };
  if (!evaluate(t + h / 2, y + h / 2 * step.rates[0], step.rates[1])) return step;
  if (!evaluate(t + h / 2, y + h / 2 * step.rates[1], step.rates[2])) return step;
  if (!evaluate(t + h, y + h * step.rates[2], step.rates[3])) return step;
  step.end = y + h / 6 * (step.rates[0] + 2 * step.rates[1] + 2 * step.rates[2] + step.rates[3]);
  if (!evaluate(t + h, step.end, step.rates[6])) return step;
  step.error = Eigen::VectorXd::Zero(y.size());
  return step;
}

}  // namespace

std::array<double, 7> tsit5_weights(double x) {
  // Table 2 of the same paper.
  const double x2 = x * x;
  return {
      -1.0530884977290216 * x * (x - 1.3299890189751412) * (x2 - 1.4364028541716351 * x + 0.7139816917074209),
      0.1017 * x2 * (x2 - 2.1966568338249754 * x + 1.2949852507374631),
      2.490627285651252793 * x2 * (x2 - 2.38535645472061657 * x + 1.57803468208092486),
      -16.54810288924490272 * (x - 1.21712927295533244) * (x - 0.61620406037800089) * x2,
      47.37952196281928122 * (x - 1.203071208372362603) * (x - 0.658047292653547382) * x2,
      -34.87065786149660974 * (x - 1.2) * (x - 0.666666666666666667) * x2,
      2.5 * (x - 1) * (x - 0.6) * x2};
}

Eigen::VectorXd Step::at(double theta, IntegratorSettings::Method method) const {
  if (theta <= 0) return start;
  if (theta >= 1) return end;
  if (method != IntegratorSettings::Method::rk4 && !cubic) {
    const std::array<double, 7> b = tsit5_weights(theta);
    Eigen::VectorXd increment = b[0] * rates[0];
    for (std::size_t j = 1; j < 7; ++j) increment += b[j] * rates[j];
    return start + h * increment;
  }
  const double u = 1 - theta;
  return u * u * (1 + 2 * theta) * start + theta * theta * (1 + 2 * u) * end +
         theta * u * h * (u * rates[0] - theta * rates[6]);
}

Step runge_kutta_step(IntegratorSettings::Method method, const RightSide& f, double t,
                      const Eigen::VectorXd& y, const Eigen::VectorXd& first, double h) {
  return method == IntegratorSettings::Method::rk4 ? rk4(f, t, y, first, h) : tsit5(f, t, y, first, h);
}

}  // namespace zwang
