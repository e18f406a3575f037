// Studies whose members a device can draw by itself, to the bits of the host's own draws (Sampler).
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

// Nothing where the host has to draw: another sampler than "random", a nominal member, a distribution or formula with
// logarithms, exponentials or angles, whose last bit differs from machine to machine, joint normals, grids, files; or where
// draws decide whether a start is on its conditions, or it is not.
std::optional<DrawPlan> draw_plan(const Study& study, const Sampler& sampler);

}  // namespace zwang
