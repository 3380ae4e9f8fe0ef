#include "apiserver/internal/controllers/policy_status_controller.h"

#include "apiserver/internal/admission/type_check.h"
#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {

constexpr const char* kVersion = "admissionregistration.k8s.io/v1";
constexpr const char* kPlural = "validatingadmissionpolicies";
constexpr const char* kPolicies = "validatingadmissionpolicies.admissionregistration.k8s.io";

std::int64_t generation_of(const json::object& policy) {
    return int_at(metadata_of(policy), "generation").value_or(0);
}
bool is_checked(const json::object& policy) {
    return int_at(child(policy, "status"), "observedGeneration").value_or(0) >=
           generation_of(policy);
}

/// What one check needs. The side thread may outlive the task that waits for it.
struct Checking {
    kube::ObjectPtr policy;
    DefPtr params;
    TypeCheck check{child(policy->get_object(), "spec"), params.get()};
};

}  // namespace

PolicyStatusController::PolicyStatusController(ServerState& state, Writer& writer)
    : state_(state),
      writer_(writer),
      queue_("status of admission policies", state.tasks, state.clock,
             [this](std::string name) { return reconcile(std::move(name)); }) {}

void PolicyStatusController::recover(const StartingObject& object) {
    if (object.key.resource == kPolicies) queue_.add(object.key.name);
}

void PolicyStatusController::observe(const store::StoreChange& change, const kube::ObjectPtr&) {
    if (change.key.resource == kPolicies && change.object != nullptr) queue_.add(change.key.name);
}

Task<StatusResult<void>> PolicyStatusController::reconcile(std::string name) {
    const CachedObject* cached = state_.cache.find(kPolicies, "", name);
    if (cached == nullptr) co_return StatusResult<void>();
    const kube::ObjectPtr policy = cached->tree();
    if (is_checked(policy->get_object())) co_return StatusResult<void>();
    const json::object& spec = child(policy->get_object(), "spec");
    const std::vector<DefPtr> kinds = kinds_to_check(state_.registry, spec);
    const auto checking = std::make_shared<Checking>(
        Checking{.policy = policy, .params = params_to_check(state_.registry, spec)});
    // A kind at a time, so that others have the thread in between. The types of a pod take a
    // millisecond, whatever the policy is.
    for (const DefPtr& kind : kinds)
        co_await compute_beside(state_.options.side_thread, "check the types of a policy",
                                kWorthSideThread, [checking, kind] {
                                    checking->check.check(*kind);
                                    return true;
                                });
    const DefPtr def = state_.registry.find(kVersion, kPlural);
    const std::int64_t generation = generation_of(policy->get_object());
    const json::object found = checking->check.result();
    Writer::Change change = [def, generation,
                             found](const json::value& current) -> StatusResult<NextState> {
        // Another generation is queued already.
        if (generation_of(current.get_object()) != generation) return NextState{};
        kube::Document next(current, kube::tree_bytes(found));
        json::object& status = ensure_object(next.object(), "status");
        status["observedGeneration"] = generation;
        // Upstream applies it: with the last warning goes what held them.
        if (found.empty() && !child(status, "typeChecking").empty())
            status.erase("typeChecking");
        else
            status["typeChecking"] = found;
        return settle(*def, current, std::move(next));
    };
    // No status helps where the object is as large as one may be.
    co_return done_unless(
        co_await writer_.rewrite(def, "", std::move(name), std::move(change), {.pure = true}),
        {Code::kNotFound, Code::kTooLarge});
}

}  // namespace muster::apiserver
