#pragma once

#include <memory>
#include <utility>

#include "net/byte_stream.h"

namespace muster::net {

/// Two ends of a connection inside this process, for tests and the simulation. Each direction holds
/// at most `capacity` bytes; beyond that its writer waits.
std::pair<std::unique_ptr<ByteStream>, std::unique_ptr<ByteStream>> make_memory_streams(
    const asio::any_io_executor& executor, std::size_t capacity = std::size_t{64} * 1024);

/// A listener that connect() reaches.
class MemoryListener final : public Listener {
  public:
    explicit MemoryListener(asio::any_io_executor executor,
                            std::size_t capacity = std::size_t{64} * 1024);
    ~MemoryListener() override;

    /// The client's end of a new connection; kUnavailable when the listener is closed.
    Result<std::unique_ptr<ByteStream>> connect();

    Task<Result<std::unique_ptr<ByteStream>>> accept() override;
    void close() override;
    std::string address() const override { return "memory"; }

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace muster::net
