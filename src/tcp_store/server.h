#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/time/clock.h"
#include "net/byte_stream.h"
#include "tcp_store/session.h"

namespace muster::tcp_store {

/// A server of torch's TCPStore protocol: clients of torch 1.13 and newer work with it as with
/// torch's own. The protocol has no authentication, so `admits` decides which addresses may
/// connect.
///
/// It holds no more than its limits: a client whose command goes beyond is disconnected, and a
/// connection beyond is refused.
///
/// Owns listeners, connections and the stored data, in memory only. Stop order: stop(), then
/// destroy. Thread: the loop of the executor.
class StoreServer {
  public:
    /// Gets the peer's address, as ByteStream::peer_address() returns it.
    using Admits = std::function<bool(const std::string& address)>;

    StoreServer(const asio::any_io_executor& executor, Clock& clock, Admits admits,
                StoreLimits limits = {});
    ~StoreServer();

    void serve(std::unique_ptr<net::Listener> listener);
    /// Ends a generation: closes all connections, so that no client waits in vain, and deletes
    /// everything stored. New connections are accepted.
    void begin_anew();
    Task<void> stop();

    std::size_t connections() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace muster::tcp_store
