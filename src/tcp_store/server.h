#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/time/clock.h"
#include "net/byte_stream.h"

namespace muster::tcp_store {

/// torch's TCPStore, served: real clients of torch 1.13 and newer take it for their own server. Its
/// protocol knows no authentication, so `admits` says whose address may connect.
///
/// Owns listeners, connections and all that is stored, in memory alone. Stop order: stop(), then
/// destroy. Thread: the loop of the executor.
class StoreServer {
  public:
    /// By the other side's address, as ByteStream::peer_address() tells it.
    using Admits = std::function<bool(const std::string& address)>;

    StoreServer(const asio::any_io_executor& executor, Clock& clock, Admits admits);
    ~StoreServer();

    void serve(std::unique_ptr<net::Listener> listener);
    /// What was stored and waited for belongs to a generation that has ended: every connection is
    /// closed, so that nobody waits in vain, and nothing is stored any more. New ones are taken.
    void begin_anew();
    Task<void> stop();

    std::size_t connections() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace muster::tcp_store
