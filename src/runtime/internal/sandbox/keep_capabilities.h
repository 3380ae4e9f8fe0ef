#pragma once

namespace muster::runtime {

/// What an ordinary user has in a user namespace of its own would end with an exec; made "ambient"
/// it does not. For a child between clone and exec: plain system calls.
void keep_capabilities();

}  // namespace muster::runtime
