#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/time/clock.h"

namespace muster::runtime {

enum class ProbeKind : std::uint8_t { kStartup, kLiveness, kReadiness };

/// "Startup", for events.
std::string_view probe_name(ProbeKind kind);

struct ProbeTiming {
    Duration initial_delay{};
    Duration period = std::chrono::seconds(10);
    Duration timeout = std::chrono::seconds(1);
    int success_threshold = 1;
    int failure_threshold = 3;

    friend bool operator==(const ProbeTiming&, const ProbeTiming&) = default;
};

/// When one probe of one container instance runs, and what its results mean. Pure. One attempt at a
/// time; the period is from start to start (upstream: pkg/kubelet/prober/worker.go).
class Probe {
  public:
    Probe(const ProbeTiming& timing, Instant first) : timing_(timing), next_(first) {}

    /// When begin() is due; nothing while an attempt runs and after stop().
    std::optional<Instant> next_at() const {
        return running_ || stopped_ ? std::nullopt : std::optional(next_);
    }
    void begin(Instant now);

    enum class Verdict : std::uint8_t {
        kUndecided,  ///< no change: a threshold is not reached
        kPassed,
        kFailed,
    };
    Verdict ended(bool success, Instant now);
    void stop() { stopped_ = true; }

  private:
    ProbeTiming timing_;
    Instant next_;
    bool running_ = false;
    bool stopped_ = false;
    std::optional<bool> last_;
    int in_a_row_ = 0;
};

struct ProbeTimings {
    std::optional<ProbeTiming> startup;
    std::optional<ProbeTiming> liveness;
    std::optional<ProbeTiming> readiness;
};

/// The probes of one container instance together: the other two begin when the startup probe has
/// passed (immediately if there is none). Pure.
class ContainerProbes {
  public:
    ContainerProbes(const ProbeTimings& timings, Instant container_started);

    bool started() const { return started_; }
    bool ready() const { return started_ && ready_; }

    std::optional<Instant> next_at() const;
    /// The probes that are due; they count as begun.
    std::vector<ProbeKind> begin_due(Instant now);
    /// True if the container is to be killed for it. After that only readiness is probed.
    bool ended(ProbeKind kind, bool success, Instant now);
    /// The container is being stopped: it is probed no longer for liveness, only for readiness.
    void stop_killing();

  private:
    std::optional<Probe>& probe(ProbeKind kind) { return probes_[static_cast<std::size_t>(kind)]; }
    void begin_main_probes(Instant now);

    ProbeTimings timings_;
    Instant container_started_;
    std::optional<Probe> probes_[3];
    bool started_ = false;
    bool ready_ = false;
    bool may_kill_ = true;
};

}  // namespace muster::runtime
