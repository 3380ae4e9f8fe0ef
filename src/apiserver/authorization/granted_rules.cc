#include "apiserver/authorization/granted_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apiserver/authentication/service_account_name.h"
#include "apiserver/objects/json_access.h"
#include "apiserver/resources/access_types.h"

namespace muster::apiserver {

namespace {

/// `namespace_` is that of the binding.
bool is_subject(const User& user, const json::object& subject, std::string_view namespace_) {
    const std::string_view kind = string_at(subject, "kind");
    const std::string_view name = string_at(subject, "name");
    if (kind == "User") return user.name == name;
    if (kind == "Group") return user.in_group(name);
    if (kind != "ServiceAccount") return false;
    const std::string_view named = string_at(subject, "namespace");
    if (!named.empty()) namespace_ = named;
    const ServiceAccountName account{std::string(namespace_), std::string(name)};
    return !namespace_.empty() && user.name == account.user_name();
}

const json::object* subject_of(const User& user, const json::object& binding,
                               std::string_view namespace_) {
    const json::array* subjects = array_at(binding, "subjects");
    if (subjects == nullptr) return nullptr;
    for (const json::value& entry : *subjects) {
        const json::object* subject = entry.if_object();
        if (subject != nullptr && is_subject(user, *subject, namespace_)) return subject;
    }
    return nullptr;
}

struct Visitor {
    const WatchCache& cache;
    const User& user;
    const std::function<bool(const Grant&)>& visit;
    std::vector<std::string> errors = {};

    /// False: no more rules are wanted.
    bool look_at(const json::object& binding, std::string_view kind, std::string_view namespace_) {
        const json::object* subject = subject_of(user, binding, namespace_);
        const json::object* role_ref = object_at(binding, "roleRef");
        if (subject == nullptr || role_ref == nullptr) return true;
        const Result<kube::ObjectPtr> role = find_role(cache, *role_ref, namespace_);
        if (!role) {
            errors.push_back(role.error().message());
            return true;
        }
        const json::array* rules = array_at((*role)->get_object(), "rules");
        if (rules == nullptr) return true;
        for (const json::value& rule : *rules)
            if (rule.is_object() && !visit({rule.get_object(), binding, *subject, kind}))
                return false;
        return true;
    }
};

}  // namespace

std::string Grant::source() const {
    const json::object* role = object_at(binding, "roleRef");
    const std::string_view namespace_ = namespace_of(binding);
    const auto with_namespace = [](std::string_view name, std::string_view space) {
        return space.empty() ? std::string(name) : fmt::format("{}/{}", name, space);
    };
    const std::string_view kind = string_at(subject, "kind");
    std::string_view subject_namespace = string_at(subject, "namespace");
    if (kind != "ServiceAccount")
        subject_namespace = {};
    else if (subject_namespace.empty())
        subject_namespace = namespace_;
    return fmt::format("{} \"{}\" of {} \"{}\" to {} \"{}\"", binding_kind,
                       with_namespace(name_of(binding), namespace_), string_at(*role, "kind"),
                       string_at(*role, "name"), kind,
                       with_namespace(string_at(subject, "name"), subject_namespace));
}

std::vector<std::string> visit_granted_rules(const WatchCache& cache, const User& user,
                                             std::string_view namespace_,
                                             const std::function<bool(const Grant&)>& visit) {
    static const std::string kOfCluster = kClusterRoleBindings.qualified();
    static const std::string kOfNamespace = kRoleBindings.qualified();
    Visitor visitor{cache, user, visit};
    for (const auto& [key, cached] : cache.objects(kOfCluster))
        if (!visitor.look_at(cached.tree()->get_object(), kClusterRoleBindings.kind, ""))
            return std::move(visitor.errors);
    if (namespace_.empty()) return std::move(visitor.errors);
    const auto [first, last] = cache.range(kOfNamespace, std::string(namespace_));
    for (auto it = first; it != last; ++it)
        if (!visitor.look_at(it->second.tree()->get_object(), kRoleBindings.kind, namespace_))
            break;
    return std::move(visitor.errors);
}

Result<kube::ObjectPtr> find_role(const WatchCache& cache, const json::object& role_ref,
                                  std::string_view namespace_) {
    static const std::string kOfCluster = kClusterRoles.qualified();
    static const std::string kOfNamespace = kRoles.qualified();
    const std::string_view kind = string_at(role_ref, "kind");
    const std::string name(string_at(role_ref, "name"));
    const CachedObject* found = nullptr;
    if (kind == kClusterRoles.kind)
        found = cache.find(kOfCluster, "", name);
    else if (kind == kRoles.kind && !namespace_.empty())
        found = cache.find(kOfNamespace, std::string(namespace_), name);
    else
        return Error(Code::kInvalid, fmt::format("unsupported role reference kind: \"{}\"", kind));
    if (found == nullptr)
        return Error(Code::kNotFound,
                     fmt::format("{}.{} \"{}\" not found",
                                 kind == kRoles.kind ? "role" : "clusterrole", kRbacGroup, name));
    return found->tree();
}

std::string joined_errors(std::vector<std::string> errors) {
    std::vector<std::string> once;
    for (std::string& error : errors)
        if (std::ranges::find(once, error) == once.end()) once.push_back(std::move(error));
    if (once.size() == 1) return std::move(once.front());
    return once.empty() ? std::string() : fmt::format("[{}]", fmt::join(once, ", "));
}

}  // namespace muster::apiserver
