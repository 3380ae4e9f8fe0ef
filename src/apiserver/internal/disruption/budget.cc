#include "apiserver/internal/disruption/budget.h"

#include <algorithm>

#include "apiserver/objects/json_access.h"
#include "apiserver/objects/label_selection.h"
#include "base/parse_number.h"
#include "kube/values/document.h"
#include "kube/values/time.h"

namespace muster::apiserver {

const kube::ResourceType kDisruptionBudgets{"policy", "v1", "poddisruptionbudgets",
                                            "PodDisruptionBudget"};

namespace {

/// How long a pod may exist after its eviction was allowed.
constexpr Duration kEvictionTakes = std::chrono::minutes(2);
/// Limit of evictions whose end has not been observed yet.
constexpr std::size_t kMaxPending = 2000;
constexpr std::size_t kSpareBytes = 512;
constexpr const char* kViolates =
    "Cannot evict pod as it would violate the pod's disruption budget.";

std::int64_t number_of(const json::object& status, std::string_view key) {
    return int_at(status, key).value_or(0);
}

/// "25%" of `total`, rounded up; a number is itself.
std::int64_t scaled(const json::value& value, std::int64_t total) {
    if (const std::int64_t* number = value.if_int64()) return *number;
    const json::string* text = value.if_string();
    if (text == nullptr) return 0;
    const std::int64_t percent = leading_number<std::int64_t>(*text).value_or(0);
    return (percent * total + 99) / 100;
}

struct Wanted {
    std::int64_t expected = 0;
    std::int64_t healthy = 0;
    std::string failure = {};  ///< why it can't be determined
};

/// How many pods all their controllers want together. Pods without one are not counted.
Wanted wanted_by_controllers(const Coverage& coverage, const ScaleOf& scale_of) {
    Wanted wanted;
    for (const auto& [uid, controlled] : coverage.controllers()) {
        const std::optional<std::int64_t> scale = scale_of(controlled.controller);
        if (!scale) {
            wanted.failure = fmt::format("found no controllers for pod \"{}\"",
                                         coverage.pod_of(controlled.controller.uid));
            return wanted;
        }
        wanted.expected += *scale;
    }
    return wanted;
}

Wanted wanted_by(const json::object& spec, const Coverage& coverage, const ScaleOf& scale_of) {
    const json::value* most_missing = spec.if_contains("maxUnavailable");
    const json::value* least = spec.if_contains("minAvailable");
    if (most_missing != nullptr && !most_missing->is_null()) {
        Wanted wanted = wanted_by_controllers(coverage, scale_of);
        wanted.healthy =
            std::max<std::int64_t>(0, wanted.expected - scaled(*most_missing, wanted.expected));
        return wanted;
    }
    if (least == nullptr || least->is_null()) return {};
    if (least->is_int64()) return {coverage.pods(), least->get_int64()};
    Wanted wanted = wanted_by_controllers(coverage, scale_of);
    wanted.healthy = scaled(*least, wanted.expected);
    return wanted;
}

void set_condition(json::object& status, std::string_view reason, std::string_view message,
                   WallTime now) {
    const bool allowed = number_of(status, "disruptionsAllowed") > 0;
    json::object made{{"type", "DisruptionAllowed"},
                      {"status", allowed ? "True" : "False"},
                      {"observedGeneration", number_of(status, "observedGeneration")},
                      {"lastTransitionTime", kube::format_time(now)},
                      {"reason", reason},
                      {"message", message}};
    json::value& slot = status["conditions"];
    if (!slot.is_array()) slot.emplace_array();
    for (json::value& entry : slot.get_array()) {
        if (!entry.is_object() || string_at(entry.get_object(), "type") != "DisruptionAllowed")
            continue;
        if (string_at(entry.get_object(), "status") == string_at(made, "status"))
            made["lastTransitionTime"] = entry.get_object()["lastTransitionTime"];
        entry = std::move(made);
        return;
    }
    slot.get_array().push_back(std::move(made));
}

void set_condition(json::object& status, WallTime now) {
    const bool allowed = number_of(status, "disruptionsAllowed") > 0;
    set_condition(status, allowed ? "SufficientPods" : "InsufficientPods", "", now);
}

/// May be evicted whatever a budget says: it has ended, or has not begun to be of use.
bool is_nobodys_concern(const json::object& pod) {
    const json::object* status = object_at(pod, "status");
    const std::string_view phase = status == nullptr ? "" : string_at(*status, "phase");
    return is_deleting(pod) || phase == "Succeeded" || phase == "Failed" || phase == "Pending";
}

StatusError too_many(std::string cause, std::optional<Duration> retry_after) {
    Error error(Code::kTooManyRequests, kViolates);
    error.with_causes({{"DisruptionBudget", std::move(cause), ""}});
    if (retry_after)
        error.with_retry_after(std::chrono::duration_cast<std::chrono::milliseconds>(*retry_after));
    return {std::move(error), kube::StatusDetails{}, false, {}};
}

/// Why a budget has no eviction left.
std::string why_none(std::string_view name, const json::object& status) {
    std::string_view reason, message;
    if (const json::array* conditions = array_at(status, "conditions"))
        for (const json::value& entry : *conditions)
            if (const json::object* condition = entry.if_object();
                condition != nullptr && string_at(*condition, "type") == "DisruptionAllowed") {
                reason = string_at(*condition, "reason");
                message = string_at(*condition, "message");
            }
    if (reason == "SyncFailed" && !message.empty())
        return fmt::format(
            "The disruption budget {} does not allow evicting pods currently because it failed "
            "sync: {}",
            name, message);
    return fmt::format("The disruption budget {} needs {} healthy pods and has {} currently", name,
                       number_of(status, "desiredHealthy"), number_of(status, "currentHealthy"));
}

}  // namespace

BudgetState budget_status(const json::object& budget, const Coverage& coverage,
                          const ScaleOf& scale_of, WallTime now) {
    const json::object* before = object_at(budget, "status");
    BudgetState state;
    if (before != nullptr) state.status = kube::copy_of(*before);
    json::object& status = state.status;
    const Wanted wanted = wanted_by(child(budget, "spec"), coverage, scale_of);
    if (!wanted.failure.empty()) {
        status["disruptionsAllowed"] = 0;
        set_condition(status, "SyncFailed", wanted.failure, now);
        return state;
    }
    std::int64_t healthy = coverage.healthy();
    json::object pending;
    if (const json::object* noted =
            before == nullptr ? nullptr : object_at(*before, "disruptedPods")) {
        for (const auto& [pod, time] : *noted) {
            const std::string name(pod);
            const auto since =
                kube::parse_time(time.is_string() ? std::string_view(time.get_string()) : "");
            if (!coverage.stays(name) || !since || *since + kEvictionTakes < now) continue;
            pending[name] = time;
            if (coverage.is_healthy(name)) --healthy;
            const WallTime end = *since + kEvictionTakes;
            state.requeue_at = std::min(state.requeue_at.value_or(end), end);
        }
    }
    const std::int64_t spare = healthy - wanted.healthy;
    status["currentHealthy"] = healthy;
    status["desiredHealthy"] = wanted.healthy;
    status["expectedPods"] = wanted.expected;
    // A budget that covers no pod yet must not allow anything when the first ones come.
    status["disruptionsAllowed"] = wanted.expected <= 0 ? 0 : std::max<std::int64_t>(0, spare);
    status["observedGeneration"] = number_of(metadata_of(budget), "generation");
    if (pending.empty())
        status.erase("disruptedPods");
    else
        status["disruptedPods"] = std::move(pending);
    set_condition(status, now);
    return state;
}

std::optional<kube::LabelSelector> covered_by(const json::object& budget) {
    const json::object* spec = object_at(budget, "spec");
    const json::object* selector = spec == nullptr ? nullptr : object_at(*spec, "selector");
    if (selector == nullptr) return std::nullopt;
    Result<kube::LabelSelector> read = label_selector_of(selector);
    if (!read) return std::nullopt;
    return *std::move(read);
}

StatusResult<EvictionPermit> permit_eviction(const json::object& pod,
                                             const std::vector<const json::object*>& budgets) {
    if (is_nobodys_concern(pod) || budgets.empty()) return EvictionPermit{};
    if (budgets.size() > 1)
        return internal_error(
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does "
            "not support.");
    const json::object& budget = *budgets.front();
    EvictionPermit paid{std::string(name_of(budget))};
    if (is_ready_pod(pod)) return paid;
    // Pods that are not healthy do not count, so nothing is lost with them.
    const json::object* spec = object_at(budget, "spec");
    if (spec != nullptr && string_at(*spec, "unhealthyPodEvictionPolicy") == "AlwaysAllow")
        return EvictionPermit{};
    const json::object* status = object_at(budget, "status");
    if (status == nullptr) return paid;
    const std::int64_t desired = number_of(*status, "desiredHealthy");
    if (desired > 0 && number_of(*status, "currentHealthy") >= desired) return EvictionPermit{};
    return paid;
}

StatusResult<NextState> spend_eviction(const ResourceDef& def, const json::value& budget,
                                       std::string_view pod, WallTime now) {
    kube::Document next(budget, kSpareBytes);
    json::object& status = ensure_object(next.object(), "status");
    const std::string_view name = name_of(budget.get_object());
    const std::int64_t generation = number_of(metadata_of(budget), "generation");
    if (number_of(status, "observedGeneration") < generation) return eviction_overtaken(name);
    const std::int64_t left = number_of(status, "disruptionsAllowed");
    if (left < 0) return forbidden(def.type, name, "pdb disruptions allowed is negative");
    const json::object* pending = object_at(status, "disruptedPods");
    if (pending != nullptr && pending->size() > kMaxPending)
        return forbidden(
            def.type, name,
            "DisruptedPods map too big - too many evictions not confirmed by PDB controller");
    if (left == 0) return too_many(why_none(name, status), std::nullopt);
    status["disruptionsAllowed"] = left - 1;
    if (left == 1) set_condition(status, now);
    ensure_object(status, "disruptedPods")[pod] = kube::format_time(now);
    return settle(def, budget, std::move(next));
}

StatusError eviction_overtaken(std::string_view budget) {
    return too_many(
        fmt::format("The disruption budget {} is still being processed by the server.", budget),
        std::chrono::seconds(10));
}

}  // namespace muster::apiserver
