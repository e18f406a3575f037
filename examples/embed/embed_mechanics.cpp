// Gauss's principle alone: the admissible acceleration nearest to the free one, and the residual of the
// answer.
#include <cstdio>

#include <zwang/src/quadratic_program/kkt_residual.h>
#include <zwang/src/quadratic_program/quadratic_program.h>
#include <zwang/src/quadratic_program/solve.h>

int main() {
  // A point pulled into the corner x <= 0, y <= 0: free acceleration (1, 2), both walls closed.
  zwang::QuadraticProgram program;
  program.mass = Eigen::MatrixXd::Identity(2, 2);
  program.free = Eigen::Vector2d(1, 2);
  program.rows = Eigen::MatrixXd::Identity(2, 2);
  program.offsets = Eigen::Vector2d::Zero();
  program.equation = {0, 0};
  const zwang::QpSolution answer = zwang::solve_qp(program);
  std::printf("multipliers %.1f %.1f, residual %.1g\n", answer.multipliers(0), answer.multipliers(1),
              zwang::kkt_residual(program, answer.x, answer.multipliers));
}
