#include "job_protocol/failure.h"

#include <fmt/format.h>

#include "base/signal_name.h"

namespace muster::job_protocol {

namespace {

std::string how_it_ended(const FailureReport& seen) {
    if (seen.exit_code) return fmt::format("exited with code {}", *seen.exit_code);
    return fmt::format("was killed by {}", signal_name(seen.signal));
}

/// For a verdict of one line; the whole error is told on the node that it happened on.
std::string first_line(const std::string& text) {
    const std::size_t end = text.find('\n');
    return end == text.npos ? text : text.substr(0, end) + " ...";
}

}  // namespace

std::string_view to_string(Charge charge) {
    switch (charge) {
        case Charge::kNothing:
            return "nothing";
        case Charge::kWorker:
            return "worker failures (--max-restarts)";
        case Charge::kMemory:
            return "kills for memory (--max-oom-restarts)";
        case Charge::kNode:
            return "lost nodes (--max-node-losses)";
    }
    return "";
}

std::string describe(const FailureReport& evidence) {
    const std::string where = fmt::format("node {} ({})", evidence.slot, evidence.node);
    std::string who = evidence.rank ? fmt::format("worker {} on {}", *evidence.rank, where) : where;
    const auto with_error = [&](std::string text) {
        return evidence.error.empty() ? text : text + ": " + first_line(evidence.error);
    };
    switch (evidence.kind) {
        case FailureKind::kWorkerExited:
            return with_error(fmt::format("{} {}", who, how_it_ended(evidence)));
        case FailureKind::kNotStarted:
            return with_error("the workers of " + where + " could not be started");
        case FailureKind::kOutOfMemory:
            return with_error(who + " was killed for the memory that it used");
        case FailureKind::kDisconnected:
            return with_error("the connection to " + where + " broke");
        case FailureKind::kTimedOut:
            return with_error(where + " has fallen silent");
        case FailureKind::kNodeEvicted:
            return with_error(where + " is taken away");
        case FailureKind::kCheckFailed:
            return with_error(where + " failed the check");
    }
    return who;
}

}  // namespace muster::job_protocol
