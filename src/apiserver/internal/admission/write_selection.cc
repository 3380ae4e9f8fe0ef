#include "apiserver/internal/admission/write_selection.h"

#include <algorithm>

#include "apiserver/objects/json_access.h"
#include "apiserver/objects/label_selection.h"

namespace muster::apiserver {

namespace {

constexpr std::string_view kAny = "*";

bool has(const std::vector<std::string>& list, std::string_view wanted) {
    return std::ranges::find(list, wanted) != list.end();
}
bool has_or_any(const std::vector<std::string>& list, std::string_view wanted) {
    return has(list, kAny) || has(list, wanted);
}

WriteRule rule_of(const json::object& rule) {
    const std::string_view scope = string_at(rule, "scope");
    return {.operations = strings_at(rule, "operations"),
            .groups = strings_at(rule, "apiGroups"),
            .versions = strings_at(rule, "apiVersions"),
            .resources = strings_at(rule, "resources"),
            .scope = std::string(scope.empty() ? kAny : scope),
            .names = strings_at(rule, "resourceNames")};
}

/// A selector that the kind's validation has accepted.
kube::LabelSelector selector_at(const json::object& entry, std::string_view key) {
    auto selector = label_selector_of(object_at(entry, key));
    return selector ? *std::move(selector) : kube::LabelSelector();
}

/// "pods", "pods/status", "*", "*/*", "pods/*", "*/status".
bool names_resource(std::string_view pattern, std::string_view plural,
                    std::string_view subresource) {
    const std::size_t slash = pattern.find('/');
    const std::string_view resource = pattern.substr(0, slash);
    const std::string_view below =
        slash == pattern.npos ? std::string_view() : pattern.substr(slash + 1);
    if (resource != kAny && resource != plural) return false;
    return below == subresource || (slash != pattern.npos && below == kAny);
}

bool in_scope(const WriteRule& rule, const kube::ResourceType& type) {
    // A namespace itself counts as outside of namespaces.
    return rule.scope == kAny || (rule.scope == "Namespaced") == type.namespaced;
}

/// Whether some rule is about the write if it were one through `type`.
bool is_ruled(const std::vector<WriteRule>& rules, const WriteToMatch& write,
              const kube::ResourceType& type) {
    return std::ranges::any_of(rules, [&](const WriteRule& rule) {
        return has_or_any(rule.operations, to_string(write.operation)) &&
               has_or_any(rule.groups, type.group) && has_or_any(rule.versions, type.version) &&
               in_scope(rule, type) && (rule.names.empty() || has(rule.names, write.name)) &&
               std::ranges::any_of(rule.resources, [&](const std::string& pattern) {
                   return names_resource(pattern, type.plural, write.subresource);
               });
    });
}

std::optional<kube::ResourceType> ruled_as(const std::vector<WriteRule>& rules, bool exact_version,
                                           const WriteToMatch& write) {
    if (is_ruled(rules, write, write.type)) return write.type;
    if (exact_version) return std::nullopt;
    for (const kube::ResourceType& type : write.served_as)
        if (is_ruled(rules, write, type)) return type;
    return std::nullopt;
}

bool selects(const kube::LabelSelector& selector, const json::object* object) {
    return object != nullptr && matches_labels(selector, object_at(metadata_of(*object), "labels"));
}

std::vector<WriteRule> rules_at(const json::object& fields, std::string_view key) {
    std::vector<WriteRule> rules;
    for (const json::object* rule : objects_at(fields, key)) rules.push_back(rule_of(*rule));
    return rules;
}

}  // namespace

std::string_view to_string(Operation operation) {
    switch (operation) {
        case Operation::kCreate:
            return "CREATE";
        case Operation::kUpdate:
            return "UPDATE";
        case Operation::kDelete:
            return "DELETE";
    }
    return {};
}

WriteSelection read_selection(const json::object& fields) {
    WriteSelection selection;
    selection.rules = rules_at(fields, fields.contains("rules") ? "rules" : "resourceRules");
    selection.excluded = rules_at(fields, "excludeResourceRules");
    selection.namespaces = selector_at(fields, "namespaceSelector");
    selection.objects = selector_at(fields, "objectSelector");
    selection.exact_version = string_at(fields, "matchPolicy") == "Exact";
    return selection;
}

std::optional<kube::ResourceType> selected_as(const WriteSelection& selection,
                                              const WriteToMatch& write) {
    const bool namespaced = write.namespace_labels != nullptr;
    if (namespaced && !matches_labels(selection.namespaces, write.namespace_labels))
        return std::nullopt;
    const bool selected = selection.objects.empty() || selects(selection.objects, write.before) ||
                          selects(selection.objects, write.after);
    if (!selected || ruled_as(selection.excluded, selection.exact_version, write))
        return std::nullopt;
    if (selection.any_resource && selection.rules.empty()) return write.type;
    return ruled_as(selection.rules, selection.exact_version, write);
}

}  // namespace muster::apiserver
