#pragma once

#include "control_plane/daemon/caller.h"

namespace muster::control_plane {

/// What to do where no link is beside this program, as beside a copy of it alone.
enum class MissingLink {
    kMake,   ///< in ~/.muster/bin
    kLeave,  ///< pods have muster-run only if a link to this program is there already
};

/// The caller with muster-run at the end of PATH, where pods find it, and every program beside it:
/// the directory of this program if a link of that name is there, as a build and a package make it;
/// otherwise ~/.muster/bin. What the caller's own PATH has goes first. Without a link PATH stays as
/// it is, and whoever needs muster-run is told that it is missing.
Caller with_own_programs(Caller caller, MissingLink missing);

}  // namespace muster::control_plane
