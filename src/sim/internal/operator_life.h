#pragma once

#include <functional>
#include <string>

#include "base/async/task_group.h"
#include "operator/replica.h"
#include "sim/faulty_transport.h"

namespace muster::sim {

/// One operator from its start to its crash, with its own way to the API. cut() its transport and
/// stop() it: nothing that it still does reaches anybody, and destroying it then is its death.
class OperatorLife {
  public:
    OperatorLife(asio::any_io_executor executor, kube::Transport& api, Clock& clock,
                 std::uint64_t seed, const TransportFaults& faults, TransportHooks hooks,
                 std::optional<kube::Leadership::Options> election, std::function<void()> on_filled)
        : transport(executor, api, clock, seed, faults, std::move(hooks)),
          rng_(seed ^ 0x0b),
          replica_(executor, transport, clock, rng_,
                   {.work = {.namespace_ = {},
                             .platform = {.pods_reach_api = true},
                             .check_consistency = true,
                             // Each way in every other life.
                             .lists = seed % 2 == 0 ? kube::Reflector::Lists::kStreamed
                                                    : kube::Reflector::Lists::kPaged},
                    .limits = {},
                    .election = std::move(election),
                    .on_request = {},
                    .on_filled = std::move(on_filled)}),
          tasks_(executor) {}

    void start() { tasks_.spawn("operator", replica_.run()); }
    Task<void> stop() {
        co_await tasks_.stop();
        (void)co_await replica_.stop();
    }

    FaultyTransport transport;

  private:
    Rng rng_;
    operators::Replica replica_;
    TaskGroup tasks_;
};

}  // namespace muster::sim
