#pragma once

#include <utility>

#include "sim/faulty_transport.h"

namespace muster::sim {

/// The way of one pod to the API. It fails as the ways of others do, and as long as its machine is cut
/// off nothing gets through at all. Thread: one loop.
class ApiOfPod {
  public:
    ApiOfPod(asio::any_io_executor executor, kube::Transport& api, Clock& clock, std::uint64_t seed,
             const TransportFaults& faults, TransportHooks hooks)
        : transport(std::move(executor), api, clock, seed, faults, std::move(hooks)),
          faults_(faults) {}

    void set_faults(const TransportFaults& faults) {
        faults_ = faults;
        apply();
    }
    void set_cut_off(bool so) {
        cut_off_ = so;
        apply();
    }

    FaultyTransport transport;

  private:
    void apply() {
        transport.set_faults(cut_off_ ? nothing_gets_through(faults_.latency) : faults_);
    }

    TransportFaults faults_;
    bool cut_off_ = false;
};

}  // namespace muster::sim
