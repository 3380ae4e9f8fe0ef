#pragma once

namespace muster::runtime {

/// The capabilities that an ordinary user has in a user namespace of its own are lost in an exec
/// unless they are "ambient"; this makes them so. For a child between clone and exec: plain system
/// calls.
void keep_capabilities();

}  // namespace muster::runtime
