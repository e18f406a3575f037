// The posture in which an imported mechanism starts.
#pragma once

#include <string>

#include "host/import/import_options.h"
#include "host/import/mechanism.h"

namespace zwang {

// Positions of joints at the start: those of --joint; else those of the keyframe; else 0 of the file, or the middle of
// the range where 0 is outside of it. Throws Error for joints and keyframes that `path` does not have.
void choose_start(Mechanism& mechanism, const ImportOptions& options, const std::string& path);

// Moves every tree of bodies that may move along the normal of the first plane, by a free joint or a slide of its root,
// so far that its lowest shape touches the plane. Call it after place_bodies(), and place_bodies() again.
void stand_on_plane(Mechanism& mechanism);

}  // namespace zwang
