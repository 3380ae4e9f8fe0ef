#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/time/clock.h"
#include "net/byte_stream.h"

namespace muster::net {

/// Hands each connection that comes to `take`, until the listener is closed. Others run after every
/// few of them, so that a flood of clients keeps nobody waiting; a few at a time, since each of
/// those who run may be busy for as long as it takes to fill the listener's queue. While this
/// process has no descriptor or memory for one it says so once, pauses, and tries again:
/// connections that end give some back. `what`: "connections to the store", for that message.
/// Listener and clock outlive it.
Task<void> accept_each(Listener& listener, Clock& clock, std::string what,
                       std::function<void(std::unique_ptr<ByteStream>)> take);

}  // namespace muster::net
