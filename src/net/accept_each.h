#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/time/clock.h"
#include "net/byte_stream.h"

namespace muster::net {

/// Hands each incoming connection to `take` until the listener is closed. It lets other tasks run
/// after every few connections, so that a flood of clients starves no one; only a few at a time,
/// since each of those tasks may take as long as it takes to fill the listener's queue. If this
/// process has no descriptor or memory for a connection, it logs that once, pauses, and tries
/// again: connections that end give some back, and `lacks_room` may end some. A connection for
/// which `take` throws is dropped. `what`: "connections to the store", for that message. Listener
/// and clock outlive it.
Task<void> accept_each(Listener& listener, Clock& clock, std::string what,
                       std::function<void(std::unique_ptr<ByteStream>)> take,
                       std::function<void()> lacks_room = nullptr);

}  // namespace muster::net
