// The uniform numbers behind the draws, by the sampler the study asks for.
//
// Every draw from a distribution owns one dimension: its place among the study's draws, in the order of the file
// (grids and columns of files need no uniform number and own none; a joint normal owns one per component).
//
//   random           Philox by (seed, member, name, attempt).
//   sobol            member k is point k div 16 of Sobol sequence k mod 16, scrambled by (seed, name, sequence).
//                    Depends on (seed, member, name) and on the dimension: a draw added at the end of the study
//                    leaves the others alone, one added in front shifts them. The sixteen sequences are independent
//                    replicates whatever the number of members; their means tell the standard error.
//   latin-hypercube  of the `count` members drawn, member k has the stratum that a permutation by (seed, name, count)
//                    gives it, and within it the place that "random" would give. Depends on the number of members.
//
// With include_nominal the members that are drawn are counted from member 1 in both of the latter.
// Redrawing a rejected member would tear holes into any pattern: attempts after the first are "random" everywhere.
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

  // How many members can be drawn; a Latin hypercube has no more than the study says.
  std::uint64_t limit() const;

  // In (0, 1). `member` is the number in the ensemble, at least 1 where member 0 is the nominal one.
  double operator()(std::size_t dimension, std::uint64_t member, unsigned attempt) const;

  // Independent randomisations among the members: 1 where the members themselves are independent.
  unsigned replicates() const;
  unsigned replicate_of(std::uint64_t member) const;

 private:
  SamplerKind kind_;
  std::uint64_t seed_;
  std::uint64_t first_;               // the first member that is drawn
  std::uint64_t count_;               // members that are drawn
  std::vector<std::uint32_t> names_;  // name words
  std::vector<Shuffle> strata_;       // of a Latin hypercube
};

}  // namespace zwang
