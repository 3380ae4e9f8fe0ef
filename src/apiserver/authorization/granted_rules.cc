#include "apiserver/authorization/granted_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

#include "apiserver/authentication/service_account_name.h"
#include "apiserver/objects/json_access.h"
#include "apiserver/resources/access_types.h"

namespace muster::apiserver {

namespace {

/// More than any object has. The roles of real users have a thousandth of it.
constexpr std::size_t kMostRoleBytes = std::size_t{4} * 1024 * 1024;
constexpr std::size_t kMostErrors = 100;

/// The subjects that stand for a user.
class UserSubjects {
  public:
    explicit UserSubjects(const User& user)
        : user_(user),
          account_(parse_service_account(user.name)),
          groups_(user.groups.begin(), user.groups.end()) {
        std::ranges::sort(groups_);
    }

    const std::string& name() const { return user_.name; }
    /// The first subject of a binding that is the user, or a group of theirs; null if none is.
    const json::object* find_in(const BindingSubjects& binding, std::string_view namespace_) const {
        using Subject = BindingSubjects::Subject;
        const Subject* first = nullptr;
        const auto offer = [&](const Subject* found) {
            if (found != nullptr && (first == nullptr || found->position < first->position))
                first = found;
        };
        offer(BindingSubjects::find(binding.of_kind("User"), user_.name, ""));
        if (account_) {
            const auto accounts = binding.of_kind("ServiceAccount");
            offer(BindingSubjects::find(accounts, account_->name, account_->namespace_));
            if (account_->namespace_ == namespace_)
                offer(BindingSubjects::find(accounts, account_->name, ""));
        }
        const auto named = binding.of_kind("Group");
        if (named.size() < groups_.size()) {
            for (const Subject& group : named)
                if (std::ranges::binary_search(groups_, group.name)) offer(&group);
        } else {
            for (const std::string_view group : groups_)
                offer(BindingSubjects::find(named, group, ""));
        }
        return first == nullptr ? nullptr : &binding.at(*first);
    }

  private:
    const User& user_;
    std::optional<ServiceAccountName> account_;
    std::vector<std::string_view> groups_;
};

Result<const CachedObject*> find_cached_role(const WatchCache& cache, const json::object& role_ref,
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
    return found;
}

class Visitor {
  public:
    Visitor(const WatchCache& cache, const User& user,
            const std::function<bool(const Grant&)>& visit)
        : cache_(cache), subjects_(user), visit_(visit) {}

    /// False: no more rules are wanted.
    bool look_at(const BindingSubjects& subjects, std::string_view kind,
                 std::string_view namespace_) {
        const json::object* subject = subjects_.find_in(subjects, namespace_);
        const json::object& binding = subjects.binding();
        const json::object* role_ref = object_at(binding, "roleRef");
        if (subject == nullptr || role_ref == nullptr) return true;
        const Result<const CachedObject*> role = find_cached_role(cache_, *role_ref, namespace_);
        if (!role) {
            if (visited_.errors.size() < kMostErrors)
                visited_.errors.push_back(role.error().message());
            return true;
        }
        // Another binding has granted it already.
        if (!looked_at_.insert(*role).second) return true;
        visited_.bytes += (*role)->object->text().size();
        if (visited_.bytes > kMostRoleBytes) {
            visited_.errors.push_back(
                fmt::format("the roles of user \"{}\" have more than {} bytes "
                            "together, and what is beyond that does not count",
                            subjects_.name(), kMostRoleBytes));
            return false;
        }
        const kube::ObjectPtr tree = (*role)->tree();
        const json::array* rules = array_at(tree->get_object(), "rules");
        if (rules == nullptr) return true;
        for (const json::value& rule : *rules)
            if (rule.is_object() && !visit_({rule.get_object(), binding, *subject, kind}))
                return false;
        return true;
    }
    VisitedRoles take() { return std::move(visited_); }

  private:
    const WatchCache& cache_;
    const UserSubjects subjects_;
    const std::function<bool(const Grant&)>& visit_;
    std::set<const CachedObject*> looked_at_;
    VisitedRoles visited_;
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

VisitedRoles visit_granted_rules(const WatchCache& cache, const User& user,
                                 std::string_view namespace_,
                                 const std::function<bool(const Grant&)>& visit) {
    static const std::string kOfCluster = kClusterRoleBindings.qualified();
    static const std::string kOfNamespace = kRoleBindings.qualified();
    Visitor visitor(cache, user, visit);
    for (const auto& [key, binding] : cache.bindings(kOfCluster))
        if (!visitor.look_at(binding, kClusterRoleBindings.kind, "")) return visitor.take();
    if (namespace_.empty()) return visitor.take();
    const auto& bindings = cache.bindings(kOfNamespace);
    for (auto it = bindings.lower_bound({std::string(namespace_), ""});
         it != bindings.end() && it->first.namespace_ == namespace_; ++it)
        if (!visitor.look_at(it->second, kRoleBindings.kind, namespace_)) break;
    return visitor.take();
}

Result<kube::ObjectPtr> find_role(const WatchCache& cache, const json::object& role_ref,
                                  std::string_view namespace_) {
    TRY(const CachedObject* const found, find_cached_role(cache, role_ref, namespace_));
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
