#include "apiserver/internal/writing/pod_admission.h"

#include <fmt/format.h>

#include "apiserver/internal/claims/claim_admission.h"
#include "apiserver/internal/writing/pod_account.h"
#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {

constexpr std::size_t kMostLimitBytes = std::size_t{3} * 1024 * 1024;

bool is_claim(const Target& target) {
    return target.type().group.empty() && target.type().plural == "persistentvolumeclaims";
}

bool pods_need_accounts(const ApiServerOptions& options) {
    return (options.cluster_controllers || options.pods_need_accounts) &&
           options.signing_key != nullptr && !options.root_ca_pem.empty();
}

void look_up_account(const ServerState& state, const std::string& space, const json::object& pod,
                     Surroundings& around) {
    if (!pods_need_accounts(state.options)) return;
    around.account.emplace(account_of(pod));
    const CachedObject* found =
        state.cache.find(kube::types::kServiceAccounts.plural, space, around.account->name);
    if (found != nullptr) around.account->object = found->tree();
}

void look_up_priority(const ServerState& state, const json::object& pod, Surroundings& around) {
    std::string name(string_at(child(pod, "spec"), "priorityClassName"));
    if (name.empty()) name = state.default_class.name();
    around.priority.emplace();
    if (name.empty()) return;
    const CachedObject* found = state.cache.find(kPriorityClasses, "", name);
    if (found != nullptr)
        around.priority = priority_of(found->tree()->get_object());
    else if (state.options.priority_classes)
        around.missing_class = std::move(name);
}

}  // namespace

bool is_pod(const Target& target) {
    return target.type().group.empty() && target.type().plural == "pods";
}

Surroundings surroundings_of(const ServerState& state, const Target& target,
                             const json::object& object) {
    Surroundings around;
    if (!is_pod(target) && !is_claim(target)) return around;
    const auto [first, last] = state.cache.range("limitranges", target.namespace_);
    for (auto range = first; range != last; ++range) around.ranges.push_back(range->second.tree());
    if (is_claim(target)) around.storage_class = state.default_storage.name();
    if (!is_pod(target)) return around;
    look_up_account(state, target.namespace_, object, around);
    look_up_priority(state, object, around);
    return around;
}

bool needs_default_account(const ServerState& state, const Target& target,
                           const json::object& pod) {
    constexpr std::string_view kDefault = "default";
    return is_pod(target) && state.options.cluster_controllers &&
           pods_need_accounts(state.options) && account_of(pod) == kDefault &&
           state.cache.find(kube::types::kServiceAccounts.plural, target.namespace_,
                            std::string(kDefault)) == nullptr;
}

StatusResult<void> check_account(const Target& target, const json::object& pod,
                                 const Surroundings& surroundings) {
    if (!surroundings.account || surroundings.account->object != nullptr) return {};
    const std::string& name = surroundings.account->name;
    return forbidden(
        target.type(), name_of(pod),
        fmt::format("error looking up service account {}/{}: serviceaccount \"{}\" not found",
                    target.namespace_, name, name));
}

void admit_storage(const Target& target, json::object& object, const Surroundings& surroundings) {
    if (is_claim(target)) {
        give_storage_class(object, surroundings.storage_class);
        add_finalizer(object, kClaimProtection);
    } else if (target.type().group.empty() && target.type().plural == "persistentvolumes") {
        add_finalizer(object, kVolumeProtection);
    }
}

StatusResult<void> admit_pod(const Target& target, json::object& pod,
                             const Surroundings& surroundings, std::string_view suffix) {
    if (!is_pod(target)) return {};
    if (!set_limit_defaults(pod, surroundings.ranges, kMostLimitBytes))
        return Error(Code::kTooLarge,
                     "the object would be larger than 3 MiB, with the defaults of its LimitRanges");
    TRY_VOID(check_account(target, pod, surroundings));
    if (surroundings.account) give_account(pod, surroundings.account->object->get_object(), suffix);
    if (!surroundings.missing_class.empty())
        return forbidden(
            target.type(), name_of(pod),
            fmt::format("no PriorityClass with name {} was found", surroundings.missing_class));
    if (!surroundings.priority) return {};
    const std::string problem = give_priority(pod, *surroundings.priority);
    if (!problem.empty()) return forbidden(target.type(), name_of(pod), problem);
    return {};
}

}  // namespace muster::apiserver
