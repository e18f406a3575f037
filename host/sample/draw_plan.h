// The plan by which a device draws the members of a study itself, with the same bits as the host's Sampler.
#pragma once

#include <optional>
#include <vector>

#include "host/sample/sampler.h"
#include "host/study/study.h"
#include "kernels/sampling/draw_layout.h"

namespace zwang {

struct DrawPlan {
  std::vector<DrawStep> steps;
  std::vector<int> parameter_slots, start_slots;
  unsigned long long seed = 0;
};

// Nothing if the host has to draw:
//   - a sampler other than "random", or a nominal member;
//   - joint normals, grids, files;
//   - sweeps with streams = "independent";
//   - a distribution or formula with logarithms, exponentials or angles, whose last bit differs between
//     machines;
//   - draws that may leave the range of a mass or an inertia (Study::ranges);
//   - starts that violate a constraint, or whose consistency depends on the draws.
// With sweeps the plan is that of one point, whose members are numbered from 0.
std::optional<DrawPlan> draw_plan(const Study& study, const Sampler& sampler, unsigned long long point = 0);

}  // namespace zwang
