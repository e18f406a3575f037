// Uniform numbers by sampler kind.
#include "host/sample/uniform.h"

#include <cassert>
#include <limits>

#include "host/sample/philox.h"
#include "host/sample/sobol.h"

namespace zwang {

namespace {

// Enough replicates for a standard error from their means (accurate to about 20 %), few enough that each
// keeps the evenness of a Sobol sequence. The number is fixed and members take replicates in turn, so that a
// member does not change when the ensemble grows.
constexpr std::uint64_t sobol_replicates = 16;

}  // namespace

UniformSource::UniformSource(const EnsembleSettings& ensemble, const std::vector<std::string>& names)
    : kind_(ensemble.sampler),
      seed_(ensemble.seed),
      independent_(ensemble.members_per_point > 0 && ensemble.streams == Streams::independent),
      per_point_(ensemble.per_point() > 0 ? static_cast<std::uint64_t>(ensemble.per_point()) : 0),
      first_(ensemble.include_nominal ? 1 : 0),
      count_(per_point_ > first_ ? per_point_ - first_ : 0) {
  for (const std::string& name : names) names_.push_back(name_word(name));
  if (kind_ == SamplerKind::latin_hypercube && count_ > 0 && !independent_)
    for (const std::uint32_t name : names_) strata_.emplace_back(seed_, name, count_);
}

// The seed of a point is a random number of its own, so that no two points share a scrambling.
UniformSource::Design UniformSource::design_of(std::uint64_t point) const {
  const PhiloxWords words = philox(seed_, point, 0, philox_use::point);
  Design made{point, std::uint64_t{words[1]} << 32 | words[0], {}};
  if (kind_ == SamplerKind::latin_hypercube && count_ > 0)
    for (const std::uint32_t name : names_) made.strata.emplace_back(made.seed, name, count_);
  return made;
}

std::uint64_t UniformSource::limit() const {
  return kind_ == SamplerKind::latin_hypercube ? first_ + count_ : std::numeric_limits<std::uint64_t>::max();
}

double UniformSource::operator()(std::size_t dimension, std::uint64_t member, unsigned attempt,
                                 std::uint64_t point, const Design* design) const {
  assert(dimension < names_.size() && member >= first_ && member < limit());
  assert(!has_designs() || (design != nullptr && design->point == point));
  const std::uint32_t name = names_[dimension];
  const std::uint64_t k = member - first_;
  if (kind_ == SamplerKind::sobol && attempt == 0) {
    const ScrambleKey key{has_designs() ? design->seed : seed_, name,
                          static_cast<std::uint32_t>(k % sobol_replicates)};
    return cell_midpoint(owen_scramble(sobol_coordinate(k / sobol_replicates, dimension), key));
  }
  const double u = uniform_draw(seed_, independent_ ? point * per_point_ + member : member, name, attempt);
  if (kind_ == SamplerKind::latin_hypercube && attempt == 0)
    return within_stratum((has_designs() ? design->strata : strata_)[dimension](k), count_, u);
  return u;
}

unsigned UniformSource::replicates() const { return kind_ == SamplerKind::sobol ? sobol_replicates : 1; }

unsigned UniformSource::replicate_of(std::uint64_t member) const {
  if (kind_ != SamplerKind::sobol || member < first_) return 0;
  return static_cast<unsigned>((member - first_) % sobol_replicates);
}

}  // namespace zwang
