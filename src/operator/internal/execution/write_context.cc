#include "operator/internal/execution/write_context.h"

#include <fmt/format.h>

#include <utility>

#include "base/log.h"
#include "base/lower_case.h"

namespace muster::operators {
namespace {

/// Up to this many creations of an execution have an event each.
constexpr std::size_t kToldOneByOne = 8;

}  // namespace

jobs::ReplicaId WriteContext::replica(SlotId slot, std::optional<std::int32_t> kept_rank) const {
    return {record->kind->replica_types[slot.type].name, slot.index, kept_rank};
}

std::string WriteContext::name_of(SlotId slot) const {
    return jobs::replica_name(*record->kind, record->name, replica(slot));
}

void WriteContext::tell(kube::EventType type, std::string reason, std::string message) {
    recorder.record(about, type, std::move(reason), std::move(message));
}

void WriteContext::tell_events() {
    for (JobEvent& event : std::exchange(events, {}))
        tell(event.type, std::move(event.reason), std::move(event.message));
}

void WriteContext::tell_created(std::string_view what, const std::vector<std::string>& names) {
    const std::string reason = fmt::format("SuccessfulCreate{}", what);
    const std::string kind = lower_case(what);
    if (names.size() > kToldOneByOne) {
        tell(kube::EventType::kNormal, reason,
             fmt::format("Created {} {}s: {} to {}", names.size(), kind, names.front(),
                         names.back()));
        return;
    }
    for (const std::string& name : names)
        tell(kube::EventType::kNormal, reason, fmt::format("Created {}: {}", kind, name));
}

void WriteContext::fail(std::string_view what, std::string_view name, const Error& error) {
    result.complete = false;
    if (error.is_expected()) return;
    log::warning("a job's reconciliation could not finish", {{"kind", record->kind->resource.kind},
                                                             {"namespace", ns()},
                                                             {"job", record->name},
                                                             {"request", what},
                                                             {"name", name},
                                                             {"error", error.message()}});
}

void WriteContext::fail_and_tell(std::string_view what, std::string_view name, const Error& error,
                                 std::string reason, std::string_view event) {
    fail(what, name, error);
    if (!error.is_expected())
        tell(kube::EventType::kWarning, std::move(reason),
             fmt::format("{}: {}", event, error.message()));
}

}  // namespace muster::operators
