// Scene of a system: points, anchors, strings and rods between them, disks that keep apart, walls.
#pragma once

#include "host/report/report_data.h"

namespace zwang {

// `members` and `times` (indices of output times) are those of the motion shown.
ReportJson report_scene(const ReportSource& source, const std::vector<long long>& members,
                        const std::vector<std::size_t>& times);

}  // namespace zwang
