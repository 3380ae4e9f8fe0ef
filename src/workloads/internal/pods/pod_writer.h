#pragma once

#include <string>
#include <vector>

#include "kube/client/client.h"
#include "kube/client/event_recorder.h"
#include "workloads/internal/pods/controlled.h"
#include "workloads/internal/pods/pod_table.h"

namespace muster::workloads {

/// Makes and deletes pods, tells it in Events, and lets the table know. Thread: the table's loop.
class PodWriter {
  public:
    PodWriter(kube::Client& client, PodTable& table, kube::EventRecorder& events)
        : client_(client), table_(table), events_(events) {}

    Task<Result<void>> make(Owner owner, json::object pod);
    Task<Result<void>> remove(Owner owner, PodPtr pod);
    /// Takes the finalizer of Jobs off.
    Task<Result<void>> untrack(PodPtr pod);

  private:
    kube::Client& client_;
    PodTable& table_;
    kube::EventRecorder& events_;
};

}  // namespace muster::workloads
