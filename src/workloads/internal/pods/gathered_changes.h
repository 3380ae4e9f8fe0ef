#pragma once

#include <string>

#include "base/time/clock.h"
#include "kube/client/controller.h"

namespace muster::workloads {

/// A pod of the object with this key has changed; it has so many. What a turn costs grows with their
/// number, and each of them changes several times: the changes of an object with many pods are
/// gathered, 1 ms for each of its pods.
inline void add_gathered(kube::Controller& controller, const Clock& clock, const std::string& key,
                         std::size_t pods) {
    constexpr std::size_t kFewPods = 20;
    if (pods <= kFewPods)
        controller.add(key);
    else
        controller.requeue_at(key, clock.now() + std::chrono::milliseconds(static_cast<int>(pods)));
}

}  // namespace muster::workloads
