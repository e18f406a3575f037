// Writes records.nc: the rows of [[record]] of all members, as contiguous ragged arrays (CF 1.8, section 9.3.3).
#pragma once

#include <filesystem>
#include <functional>

#include "host/files/member_records.h"
#include "host/run/run_result.h"
#include "host/study/study.h"

namespace zwang {

// `read` passes on the records of all members in order; it is called once.
void write_records(const std::filesystem::path& path, const Study& study, const RunResult& result,
                   const std::function<void(const TakeMembers& take)>& read);

}  // namespace zwang
