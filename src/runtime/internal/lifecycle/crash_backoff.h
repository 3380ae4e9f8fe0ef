#pragma once

#include <algorithm>

#include "base/time/clock.h"

namespace muster::runtime {

/// When a container that ended may start again: the first time immediately, then 10, 20, 40 ... 300
/// s after its end; reset once it ran for twice the longest wait (upstream: client-go
/// util/flowcontrol/backoff.go as pkg/kubelet uses it). Pure.
class CrashBackoff {
  public:
    static constexpr Duration kFirst = std::chrono::seconds(10);
    static constexpr Duration kLongest = std::chrono::seconds(300);

    CrashBackoff() = default;
    /// As it is with this wait since a restart at `updated`.
    CrashBackoff(Duration wait, Instant updated) : wait_(wait), updated_(updated) {}

    /// The wait after a restart that came after this one.
    static Duration after(Duration wait) {
        return wait == Duration::zero() ? kFirst : std::min(wait * 2, kLongest);
    }
    /// The earliest start after an end at `finished`.
    Instant ready_at(Instant finished) const {
        return wait_ == Duration::zero() || expired(finished) ? finished : finished + wait_;
    }
    /// Records a restart after an end at `finished`.
    void restarted(Instant finished, Instant now) {
        wait_ = expired(finished) ? kFirst : after(wait_);
        updated_ = now;
    }
    Duration wait() const { return wait_; }

  private:
    bool expired(Instant finished) const { return finished - updated_ > 2 * kLongest; }

    Duration wait_{};
    Instant updated_{};
};

}  // namespace muster::runtime
