// The uniform numbers from which draws are computed, by the sampler of the study.
//
// Every draw from a distribution has one dimension: its index among the study's draws in the order of the
// file. Grids and columns of files use no uniform number and have none; a joint normal has one per component.
//
//   random           Philox by (seed, member, name, attempt).
//   sobol            member k is point k div 16 of Sobol sequence k mod 16, scrambled by (seed, name,
//   sequence).
//                    Depends on (seed, member, name) and on the dimension: a draw added at the end of the
//                    study does not change the others, one added before them shifts them. The sixteen
//                    sequences are independent replicates for any number of members; the standard error
//                    follows from their means.
//   latin-hypercube  member k of `count` drawn members has the stratum given by a permutation by
//                    (seed, name, count), and within it the position that "random" gives. Depends on the
//                    number of members.
//
// With sweeps `member` and `count` are those of one point: every point has the same draws ("common"), or
// "random" uses the number in the whole ensemble and the other two a seed of the point's own ("independent").
//
// With include_nominal, the latter two count the drawn members from member 1.
// Redrawing a rejected member would leave a hole in any pattern, so attempts after the first are always
// "random".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/sample/latin.h"
#include "host/study/study.h"

namespace zwang {

class UniformSource {
 public:
  // One name per dimension.
  UniformSource(const EnsembleSettings& ensemble, const std::vector<std::string>& names);

  std::size_t dimensions() const { return names_.size(); }

  // The largest number of members that can be drawn; for a Latin hypercube the number given in the study.
  std::uint64_t limit() const;

  // The design of one point with independent streams: seed and permutations. Kept by the caller, because
  // long permutations take a while to make.
  struct Design {
    std::uint64_t point = 0;
    std::uint64_t seed = 0;
    std::vector<Shuffle> strata;
  };
  // Whether points have designs of their own.
  bool has_designs() const { return independent_ && kind_ != SamplerKind::random; }
  Design design_of(std::uint64_t point) const;

  // A number in (0, 1). `member` is the number in its point, at least 1 if member 0 is the nominal member.
  // `design`: that of the point, if has_designs().
  double operator()(std::size_t dimension, std::uint64_t member, unsigned attempt, std::uint64_t point = 0,
                    const Design* design = nullptr) const;

  // The number of independent randomisations among the members; 1 if the members themselves are independent.
  unsigned replicates() const;
  unsigned replicate_of(std::uint64_t member) const;

 private:
  SamplerKind kind_;
  std::uint64_t seed_;
  bool independent_;                  // streams of the points of a sweep
  std::uint64_t per_point_;           // members of a point
  std::uint64_t first_;               // the first member of a point that is drawn
  std::uint64_t count_;               // members of a point that are drawn
  std::vector<std::uint32_t> names_;  // name words
  std::vector<Shuffle> strata_;       // of a Latin hypercube, one permutation per dimension
};

}  // namespace zwang
