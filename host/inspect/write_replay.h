// Writes the motion of one member as a table, JSON or CSV (docs/results.md, `replay`).
#pragma once

#include <string>

#include "host/sample/prepared_member.h"
#include "host/study/study.h"
#include "src/reference/trajectory.h"

namespace zwang {

struct Replay {
  const Study& study;
  const PreparedMember& member;
  const Trajectory& trajectory;
  std::string backend = "reference";  // name of the backend
};

std::string replay_table(const Replay& replay);
std::string replay_json(const Replay& replay);
std::string replay_csv(const Replay& replay);

}  // namespace zwang
