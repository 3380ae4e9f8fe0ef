#pragma once

#include "master/membership.h"
#include "master/service/vocabulary.h"

namespace muster::master {

/// Whether a worker of the node's current attempt has died; an earlier attempt has already been
/// restarted.
bool has_failed(const Report& report);

/// An agent that joins, as membership sees it.
Node node_of(const Hello& hello);

}  // namespace muster::master
