#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/objects/resource_type.h"
#include "kube/objects/selector.h"
#include "kube/values/json.h"

namespace muster::apiserver {

enum class Operation : std::uint8_t { kCreate, kUpdate, kDelete };
std::string_view to_string(Operation operation);  ///< "CREATE"

/// Some writes. "*" stands for all.
struct WriteRule {
    std::vector<std::string> operations;
    std::vector<std::string> groups;
    std::vector<std::string> versions;
    std::vector<std::string> resources;  ///< "pods", "pods/status", "*/*", "pods/*", "*/scale"
    std::string scope;                   ///< "Cluster", "Namespaced" or "*"
    std::vector<std::string> names;      ///< of objects; empty: all

    friend bool operator==(const WriteRule&, const WriteRule&) = default;
};

/// The writes about which a webhook or a policy is asked.
struct WriteSelection {
    std::vector<WriteRule> rules;
    std::vector<WriteRule> excluded;
    kube::LabelSelector namespaces;
    kube::LabelSelector objects;
    bool exact_version = false;  ///< matchPolicy: Exact
    bool any_resource = false;   ///< no rule means all
};

/// A WriteSelection as webhooks have it (`rules`) and policies (`resourceRules`, ...): its kind's
/// strategy has validated it.
WriteSelection read_selection(const json::object& fields);

/// The properties of a write by which it is selected.
struct WriteToMatch {
    Operation operation = Operation::kCreate;
    kube::ResourceType type;
    std::string subresource;
    std::string name = {};  ///< empty if it will be made up
    /// All types as which the same objects are served, in other versions or groups too, including
    /// `type`.
    std::vector<kube::ResourceType> served_as;
    /// The states before and after; null if there is none.
    const json::object* before = nullptr;
    const json::object* after = nullptr;
    /// Labels of the namespace, null for an object outside of one. For a namespace, its own labels
    /// count.
    const json::object* namespace_labels = nullptr;
};

/// The type as which the write is to be seen; nullopt if it is not selected. Follows
/// k8s.io/apiserver pkg/admission/plugin/webhook/predicates, generic/webhook.go and
/// policy/matching. Pure.
std::optional<kube::ResourceType> selected_as(const WriteSelection& selection,
                                              const WriteToMatch& write);

}  // namespace muster::apiserver
