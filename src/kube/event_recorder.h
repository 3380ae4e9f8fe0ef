#pragma once

#include <deque>
#include <string>

#include "base/clock.h"
#include "base/rng.h"
#include "base/signal.h"
#include "base/task_group.h"
#include "kube/client.h"
#include "kube/core_objects.h"

namespace muster::kube {

enum class EventType { kNormal, kWarning };

/// Writes Events about objects, as client-go's recorder does: equal events raise a count, many
/// similar ones are folded into "(combined from similar events)", and a flood about one object is
/// dropped beyond a burst. record() never blocks and never fails: what can't be written is logged.
class EventRecorder {
  public:
    EventRecorder(Client& client, Clock& clock, Rng& rng, TaskGroup& tasks, std::string component,
                  std::string host = {});
    ~EventRecorder();

    void record(const ObjectReference& about, EventType type, std::string reason,
                std::string message);
    /// Returns when everything recorded so far was written or given up.
    Task<void> flush();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace muster::kube
