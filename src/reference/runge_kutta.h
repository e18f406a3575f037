// One step of a Runge-Kutta method with its dense output.
#pragma once

#include <Eigen/Dense>
#include <array>
#include <functional>

#include "kernels/base/status.h"
#include "src/base/settings.h"

namespace zwang {

// dy/dt = f(t, y). The status is not ok where the rate is not defined, e.g. where a trial step leaves the
// domain.
using RightSide = std::function<Status(double t, const Eigen::VectorXd& y, Eigen::VectorXd& rate)>;

struct Step {
  Status status = Status::ok;  // of the first evaluation that failed; the step is then not complete
  double t = 0, h = 0;
  Eigen::VectorXd start, end;
  Eigen::VectorXd error;                 // estimate of the local error; zero for rk4
  std::array<Eigen::VectorXd, 7> rates;  // stages; the last one is at the end
  bool cubic = false;                    // only the rates at both ends are known

  // Dense output y(t + theta h): fourth order for tsit5, third (cubic Hermite) for rk4 and where `cubic`.
  Eigen::VectorXd at(double theta, IntegratorSettings::Method method) const;
};

// `first` is f(t, y), already known to the caller.
Step runge_kutta_step(IntegratorSettings::Method method, const RightSide& f, double t,
                      const Eigen::VectorXd& y, const Eigen::VectorXd& first, double h);

// The weights of the dense output at theta [tsitouras-2011]; at theta = 1 they are those of the step.
std::array<double, 7> tsit5_weights(double theta);

}  // namespace zwang
