#pragma once

#include <string>

#include "base/task_group.h"
#include "operator/operator.h"
#include "sim/faulty_transport.h"

namespace muster::sim {

/// One operator from its start to its crash, with its own way to the API. cut() its transport and
/// stop() it: nothing that it still does reaches anybody, and destroying it then is its death.
class OperatorLife {
  public:
    OperatorLife(asio::any_io_executor executor, kube::Transport& api, Clock& clock,
                 std::uint64_t seed, const TransportFaults& faults, TransportHooks hooks)
        : transport(executor, api, clock, seed, faults, std::move(hooks)),
          rng_(seed ^ 0x0b),
          operator_(executor, transport, clock, rng_, {.namespace_ = {}, .check_sums = true}),
          tasks_(executor) {}

    void start() { tasks_.spawn("operator start", run()); }
    Task<void> stop() {
        co_await tasks_.stop();
        co_await operator_.stop();
    }

    FaultyTransport transport;

  private:
    Task<void> run() { (void)co_await operator_.start(); }

    Rng rng_;
    operators::Operator operator_;
    TaskGroup tasks_;
};

}  // namespace muster::sim
