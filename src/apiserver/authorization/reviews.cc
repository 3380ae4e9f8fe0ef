#include "apiserver/authorization/reviews.h"

#include "apiserver/authentication/authentication.h"
#include "apiserver/authentication/user_info.h"
#include "apiserver/authorization/authorization.h"
#include "apiserver/authorization/granted_rules.h"
#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {

json::array list_of(const std::vector<std::string>& texts) {
    return json::array(texts.begin(), texts.end());
}

// Access.

Action action_of(const json::object& spec) {
    Action action;
    if (const json::object* resource = object_at(spec, "resourceAttributes")) {
        action.verb = string_at(*resource, "verb");
        action.group = string_at(*resource, "group");
        action.resource = string_at(*resource, "resource");
        action.subresource = string_at(*resource, "subresource");
        action.namespace_ = string_at(*resource, "namespace");
        action.name = string_at(*resource, "name");
    } else if (const json::object* path = object_at(spec, "nonResourceAttributes")) {
        action.verb = string_at(*path, "verb");
        action.path = string_at(*path, "path");
    }
    return action;
}

void check_attributes(const json::object& spec, FieldErrors& field_errors) {
    const bool resource = object_at(spec, "resourceAttributes") != nullptr;
    const json::object* path = object_at(spec, "nonResourceAttributes");
    if (resource && path != nullptr)
        field_errors.push_back(invalid_value("spec.nonResourceAttributes", *path,
                                             "cannot be specified in combination with "
                                             "resourceAttributes"));
    if (!resource && path == nullptr)
        field_errors.push_back(invalid_value("spec.resourceAttributes", nullptr,
                                             "exactly one of nonResourceAttributes or "
                                             "resourceAttributes must be specified"));
}

/// A LocalSubjectAccessReview may ask only about its own namespace.
void check_locality(const json::object& spec, std::string_view namespace_,
                    FieldErrors& field_errors) {
    const json::object* resource = object_at(spec, "resourceAttributes");
    const std::string_view asked = resource == nullptr ? "" : string_at(*resource, "namespace");
    if (resource != nullptr && asked != namespace_)
        field_errors.push_back(invalid_value("spec.resourceAttributes.namespace",
                                             json::value(asked), "must match metadata.namespace"));
    if (const json::object* path = object_at(spec, "nonResourceAttributes"))
        field_errors.push_back(invalid_value("spec.nonResourceAttributes", *path,
                                             "disallowed on this kind of request"));
}

User user_of(const json::object& spec) {
    User user{std::string(string_at(spec, "user")),
              std::string(string_at(spec, "uid")),
              strings_at(spec, "groups"),
              {}};
    if (const json::object* extra = object_at(spec, "extra"))
        for (const auto& entry : *extra) user.extra[entry.key()] = strings_at(*extra, entry.key());
    return user;
}

json::object access_status(const ReviewContext& context, const User& user, const Action& action) {
    const Decision decision =
        context.everything_allowed ? Decision{true, {}} : decide(context.cache, user, action);
    json::object status{{"allowed", decision.allowed}};
    if (!decision.reason.empty()) status["reason"] = decision.reason;
    return status;
}

// Rules.

void put(json::object& rule, std::string_view key, const json::object& from) {
    if (const json::array* texts = array_at(from, key); texts != nullptr && !texts->empty())
        rule[key] = *texts;
}

/// Of groups and of extra attributes. What a decision costs grows with them, and a request's head has
/// no room for as many.
constexpr std::size_t kMostItems = 10'000;

/// Those of an array; those of an object with the items of all its members.
std::size_t items_in(const json::value* value) {
    if (value == nullptr) return 0;
    if (const json::array* array = value->if_array()) return array->size();
    std::size_t items = 0;
    if (const json::object* object = value->if_object())
        for (const auto& entry : *object) items += 1 + items_in(&entry.value());
    return items;
}
/// So many verbs, groups, resources and names are listed at most; what follows only makes the list
/// incomplete.
constexpr std::size_t kMostListed = 40'000;

std::size_t entries_of(const json::object& rule) {
    std::size_t entries = 1;
    for (const auto& field : rule)
        if (const json::array* list = field.value().if_array()) entries += list->size();
    return entries;
}

json::object rules_status(const ReviewContext& context, std::string_view namespace_) {
    const User& user = context.user;
    std::size_t listed = 0;
    json::array resources;
    json::array paths;
    if (context.everything_allowed || user.in_group(kMasters)) {
        const json::array any{"*"};
        resources.push_back(json::object{{"verbs", any}, {"apiGroups", any}, {"resources", any}});
        paths.push_back(json::object{{"verbs", any}, {"nonResourceURLs", any}});
    }
    VisitedRoles visited =
        visit_granted_rules(context.cache, user, namespace_, [&](const Grant& grant) {
            listed += entries_of(grant.rule);
            if (listed > kMostListed) return false;
            json::object rule;
            put(rule, "verbs", grant.rule);
            if (grant.rule.contains("nonResourceURLs")) {
                put(rule, "nonResourceURLs", grant.rule);
                paths.push_back(std::move(rule));
                return true;
            }
            for (const char* key : {"apiGroups", "resources", "resourceNames"})
                put(rule, key, grant.rule);
            resources.push_back(std::move(rule));
            return true;
        });
    std::vector<std::string>& errors = visited.errors;
    if (listed > kMostListed) errors.push_back("there are more rules than are listed");
    json::object status{{"resourceRules", std::move(resources)},
                        {"nonResourceRules", std::move(paths)},
                        {"incomplete", !errors.empty()}};
    if (!errors.empty()) status["evaluationError"] = joined_errors(errors);
    return status;
}

// Tokens.

json::object token_status(const ReviewContext& context, const json::object& spec) {
    Result<TokenOwner> owner =
        context.owner_of(std::string(string_at(spec, "token")), strings_at(spec, "audiences"));
    if (!owner) return {{"user", json::object()}, {"error", owner.error().message()}};
    json::object status{{"authenticated", true}, {"user", user_info(owner->user)}};
    if (!owner->audiences.empty()) status["audiences"] = list_of(owner->audiences);
    return status;
}

StatusResult<json::object> status_of(const ReviewContext& context, const Target& target,
                                     const json::object& spec) {
    const std::string& kind = target.type().kind;
    FieldErrors field_errors;
    if (kind == "SelfSubjectReview") return json::object{{"userInfo", user_info(context.user)}};
    if (kind == "SelfSubjectRulesReview") {
        const std::string_view namespace_ = string_at(spec, "namespace");
        if (namespace_.empty()) return bad_request("no namespace on request");
        return rules_status(context, namespace_);
    }
    if (kind == "TokenReview") {
        if (string_at(spec, "token").empty())
            return bad_request("token is required for TokenReview in authentication");
        return token_status(context, spec);
    }
    for (const auto& [field, items] : {std::pair("groups", items_in(spec.if_contains("groups"))),
                                       std::pair("extra", items_in(spec.if_contains("extra")))})
        if (items > kMostItems)
            field_errors.push_back(too_many(fmt::format("spec.{}", field), items, kMostItems));
    if (!field_errors.empty()) return invalid(target.type(), "", std::move(field_errors));
    check_attributes(spec, field_errors);
    User user = context.user;
    if (kind != "SelfSubjectAccessReview") {
        user = user_of(spec);
        if (user.name.empty() && user.groups.empty())
            field_errors.push_back(invalid_value(
                "spec.user", json::value(""), "at least one of user or group must be specified"));
    }
    if (kind == "LocalSubjectAccessReview") check_locality(spec, target.namespace_, field_errors);
    if (!field_errors.empty()) return invalid(target.type(), "", std::move(field_errors));
    return access_status(context, user, action_of(spec));
}

}  // namespace

StatusResult<json::object> answer_review(const ReviewContext& context, const Target& target,
                                         const DecodedObject& asked) {
    json::object answer = asked.object.object();
    TRY(json::object status, status_of(context, target, child(answer, "spec")));
    if (target.type().namespaced)
        ensure_object(answer, "metadata")["namespace"] = target.namespace_;
    answer["status"] = std::move(status);
    return answer;
}

}  // namespace muster::apiserver
