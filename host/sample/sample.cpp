// Each call builds a Sampler for one member; loops over many members should keep their own.
#include "host/sample/sample.h"

#include "host/sample/sampler.h"

namespace zwang {

MemberInputs draw_member(const Study& study, unsigned long long member, unsigned attempt) {
  Sampler::Scratch scratch;
  MemberInputs made;
  Sampler(study).draw(member, attempt, scratch, made);
  return made;
}

MemberInputs nominal_member(const Study& study, unsigned long long point) {
  Sampler::Scratch scratch;
  MemberInputs made;
  Sampler(study).draw_nominal(scratch, made, point);
  return made;
}

}  // namespace zwang
