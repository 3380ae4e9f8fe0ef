#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/time/clock.h"

namespace muster::runtime {

/// How one container instance is stopped: its preStop hook, then a signal, then SIGKILL, all before
/// one deadline; the process gets two seconds after the signal even if the hook used up the time
/// (upstream: pkg/kubelet/kuberuntime/kuberuntime_container.go, killContainer). Pure.
///
///     hook ──(ended, or the deadline)──▶ signalled ──(the deadline)──▶ killed
class ContainerStop {
  public:
    static constexpr Duration kLeast = std::chrono::seconds(2);

    /// What to do now.
    enum class Step : std::uint8_t { kNothing, kRunHook, kSignal, kKill };

    explicit ContainerStop(Instant deadline) : deadline_(deadline) {}

    Step begin(bool has_hook, Instant now) {
        if (now >= deadline_) return kill();
        if (has_hook) return Step::kRunHook;
        return signal();
    }
    Step hook_ended(Instant now) {
        if (stage_ != Stage::kHook) return Step::kNothing;
        deadline_ = std::max(deadline_, now + kLeast);
        return signal();
    }
    Step tick(Instant now) {
        if (now < deadline_ || stage_ == Stage::kKilled) return Step::kNothing;
        return stage_ == Stage::kHook && !forced_ ? hook_ended(now) : kill();
    }
    /// A deadline later than the present one changes nothing. One that has passed kills.
    Step shorten(Instant deadline, Instant now) {
        if (deadline < deadline_) deadline_ = deadline;
        if (deadline <= now) forced_ = true;
        return tick(now);
    }
    std::optional<Instant> wake_at() const {
        return stage_ == Stage::kKilled ? std::nullopt : std::optional(deadline_);
    }
    bool in_hook() const { return stage_ == Stage::kHook; }

  private:
    enum class Stage : std::uint8_t { kHook, kSignalled, kKilled };

    Step signal() {
        stage_ = Stage::kSignalled;
        return Step::kSignal;
    }
    Step kill() {
        stage_ = Stage::kKilled;
        return Step::kKill;
    }

    Instant deadline_;
    Stage stage_ = Stage::kHook;
    bool forced_ = false;
};

}  // namespace muster::runtime
