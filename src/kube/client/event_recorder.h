#pragma once

#include <memory>
#include <string>

#include "base/async/signal.h"
#include "base/async/task_group.h"
#include "base/rng.h"
#include "base/time/clock.h"
#include "kube/client/client.h"
#include "kube/objects/core_objects.h"

namespace muster::kube {

enum class EventType { kNormal, kWarning };

/// Writes Events about objects, as client-go's recorder does (tools/record): equal events raise a
/// count, ten or more that differ only in their text are folded into one "(combined from similar
/// events)", and a flood about one object is dropped beyond a burst of 25. record() never blocks
/// and never fails: an event that can't be written is logged and dropped (immediately if the API
/// refuses it, after 12 tries in two minutes if no server answers). At most 1000 events wait;
/// beyond that the newest is dropped.
///
/// Writes one at a time, in order, from tasks of the group; the recorder and the client outlive
/// them. Thread: the group's loop.
class EventRecorder {
  public:
    EventRecorder(Client& client, Clock& clock, Rng& rng, TaskGroup& tasks, std::string component,
                  std::string host = {});
    ~EventRecorder();

    void record(const ObjectReference& about, EventType type, std::string reason,
                std::string message);
    /// Returns when everything recorded so far was written or dropped, or the group stopped.
    Task<void> flush();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace muster::kube
