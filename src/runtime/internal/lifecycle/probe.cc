#include "runtime/internal/lifecycle/probe.h"

#include <algorithm>

namespace muster::runtime {

std::string_view probe_name(ProbeKind kind) {
    switch (kind) {
        case ProbeKind::kStartup:
            return "Startup";
        case ProbeKind::kLiveness:
            return "Liveness";
        case ProbeKind::kReadiness:
            break;
    }
    return "Readiness";
}

void Probe::begin(Instant now) {
    running_ = true;
    next_ = now + timing_.period;
}

Probe::Verdict Probe::ended(bool success, Instant now) {
    running_ = false;
    next_ = std::max(next_, now);
    in_a_row_ = last_ == success ? in_a_row_ + 1 : 1;
    last_ = success;
    if (in_a_row_ < (success ? timing_.success_threshold : timing_.failure_threshold))
        return Verdict::kUndecided;
    return success ? Verdict::kPassed : Verdict::kFailed;
}

ContainerProbes::ContainerProbes(const ProbeTimings& timings, Instant container_started)
    : timings_(timings), container_started_(container_started) {
    if (timings_.startup)
        probe(ProbeKind::kStartup)
            .emplace(*timings_.startup, container_started + timings_.startup->initial_delay);
    else
        begin_main_probes(container_started);
}

void ContainerProbes::begin_main_probes(Instant now) {
    started_ = true;
    ready_ = !timings_.readiness.has_value();
    const auto first = [&](const ProbeTiming& timing) {
        return std::max(now, container_started_ + timing.initial_delay);
    };
    if (timings_.liveness && may_kill_)
        probe(ProbeKind::kLiveness).emplace(*timings_.liveness, first(*timings_.liveness));
    if (timings_.readiness)
        probe(ProbeKind::kReadiness).emplace(*timings_.readiness, first(*timings_.readiness));
}

std::optional<Instant> ContainerProbes::next_at() const {
    std::optional<Instant> next;
    for (const std::optional<Probe>& each : probes_) {
        if (!each) continue;
        const std::optional<Instant> at = each->next_at();
        if (at && (!next || *at < *next)) next = at;
    }
    return next;
}

std::vector<ProbeKind> ContainerProbes::begin_due(Instant now) {
    std::vector<ProbeKind> due;
    for (const ProbeKind kind :
         {ProbeKind::kStartup, ProbeKind::kLiveness, ProbeKind::kReadiness}) {
        std::optional<Probe>& each = probe(kind);
        if (!each) continue;
        const std::optional<Instant> at = each->next_at();
        if (!at || *at > now) continue;
        each->begin(now);
        due.push_back(kind);
    }
    return due;
}

bool ContainerProbes::ended(ProbeKind kind, bool success, Instant now) {
    std::optional<Probe>& ended = probe(kind);
    if (!ended) return false;
    const Probe::Verdict verdict = ended->ended(success, now);
    if (verdict == Probe::Verdict::kUndecided) return false;
    const bool passed = verdict == Probe::Verdict::kPassed;
    if (kind == ProbeKind::kReadiness) {
        ready_ = passed;
        return false;
    }
    if (kind == ProbeKind::kStartup && passed && !started_) {
        ended->stop();
        begin_main_probes(now);
    }
    if (passed || !may_kill_) return false;
    stop_killing();
    return true;
}

void ContainerProbes::stop_killing() {
    may_kill_ = false;
    for (const ProbeKind kind : {ProbeKind::kStartup, ProbeKind::kLiveness})
        if (probe(kind)) probe(kind)->stop();
}

}  // namespace muster::runtime
