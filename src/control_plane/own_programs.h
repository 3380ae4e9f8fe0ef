#pragma once

#include "control_plane/daemon/caller.h"

namespace muster::control_plane {

/// The caller with muster-run at the end of PATH, where pods find it, and every program beside it:
/// the directory of this program if a link of that name is there, as a build and a package make it;
/// otherwise ~/.muster/bin, in which one is made. What the caller's own PATH has goes first. If no
/// link can be made, PATH stays as it is, and whoever needs muster-run is told that it is missing.
Caller with_own_programs(Caller caller);

}  // namespace muster::control_plane
