// One step of a Runge-Kutta method with its continuous extension.
#pragma once

#include <Eigen/Dense>
#include <array>
#include <functional>

#include "src/base/settings.h"

namespace zwang {

// dy/dt = f(t, y); false when there is none (the member is in trouble, or the trial left the domain).
using RightSide = std::function<bool(double t, const Eigen::VectorXd& y, Eigen::VectorXd& rate)>;

struct Step {
  bool valid = false;
  double t = 0, h = 0;
  Eigen::VectorXd start, end;
  Eigen::VectorXd error;                 // estimate of the local error; zero for rk4
  std::array<Eigen::VectorXd, 7> rates;  // stages; the last one is at the end

  // y(t + theta h): fourth order for tsit5, third (cubic Hermite) for rk4.
  Eigen::VectorXd at(double theta, IntegratorSettings::Method method) const;
};

// `first` is f(t, y), already known to the caller.
Step runge_kutta_step(IntegratorSettings::Method method, const RightSide& f, double t,
                      const Eigen::VectorXd& y, const Eigen::VectorXd& first, double h);

// The weights of the interpolant at theta [tsitouras-2011]; at theta = 1 they are the step's own.
std::array<double, 7> tsit5_weights(double theta);

}  // namespace zwang
