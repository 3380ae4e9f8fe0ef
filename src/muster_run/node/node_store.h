#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time/clock.h"
#include "job_protocol/world.h"
#include "muster_run/node/loopback_users.h"
#include "tcp_store/server.h"

namespace muster::run {

/// The host of "10.0.0.7:51234" or "[fd00::1]:51234", an IPv4 address as such also where a socket
/// of both families tells it.
std::string host_of(const std::string& peer_address);

/// Which machines a store is for.
enum class StoreReach : std::uint8_t {
    kThisMachine,  ///< the world is one node: at 127.0.0.1 and ::1, for this user and root
    kWorld,        ///< at all addresses, for this machine and those of the world's members
};

/// The store of this node's workers and, while it is group rank 0, of all workers of the world. Its
/// protocol has no authentication, so it takes connections by where they come from (StoreReach).
///
/// Owns its port for as long as it lives. stop(), then destroy. Thread: the loop.
class NodeStore {
  public:
    /// `port` 0: any that is free. kAlreadyExists: the port is taken.
    static Result<std::unique_ptr<NodeStore>> open(const asio::any_io_executor& executor,
                                                   Clock& clock, std::uint16_t port,
                                                   std::vector<std::string> own_addresses,
                                                   StoreReach reach);

    std::uint16_t port() const { return port_; }
    /// It is that world's from now on, and empty.
    void begin(const job_protocol::World& world);
    Task<void> stop() { return server_.stop(); }

  private:
    NodeStore(const asio::any_io_executor& executor, Clock& clock,
              std::vector<std::string> own_addresses);

    bool admits(const std::string& peer_address) const;

    std::optional<LoopbackUsers> users_;  ///< for kThisMachine
    std::set<std::string> own_;
    std::set<std::string> members_;
    std::uint16_t port_ = 0;
    tcp_store::StoreServer server_;
};

}  // namespace muster::run
