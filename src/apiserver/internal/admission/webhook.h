#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/webhook_caller.h"
#include "base/time/clock.h"
#include "kube/objects/resource_type.h"
#include "kube/objects/selector.h"
#include "kube/values/json.h"

namespace muster::apiserver {

enum class Operation : std::uint8_t { kCreate, kUpdate, kDelete };
std::string_view to_string(Operation operation);  ///< "CREATE"

/// The writes about which a webhook is called. "*" stands for all.
struct WebhookRule {
    std::vector<std::string> operations;
    std::vector<std::string> groups;
    std::vector<std::string> versions;
    std::vector<std::string> resources;  ///< "pods", "pods/status", "*/*", "pods/*", "*/scale"
    std::string scope;                   ///< "Cluster", "Namespaced" or "*"

    friend bool operator==(const WebhookRule&, const WebhookRule&) = default;
};

/// One entry of a webhook configuration.
struct Webhook {
    std::string name;
    WebhookEndpoint endpoint;
    std::vector<WebhookRule> rules;
    kube::LabelSelector namespaces;
    kube::LabelSelector objects;
    bool ignores_failure = false;  ///< failurePolicy: Ignore
    bool exact_version = false;    ///< matchPolicy: Exact
    bool allows_dry_run = false;   ///< sideEffects: None or NoneOnDryRun
    bool reinvoked = false;        ///< reinvocationPolicy: IfNeeded
    std::string review_version;    ///< of the AdmissionReview: "v1" where it takes that
    Duration time_limit{};
};

/// The webhooks of a configuration object that was validated by webhook_strategy().
std::vector<Webhook> read_webhooks(const json::object& configuration);

/// The properties of a write by which webhooks are chosen.
struct WriteToMatch {
    Operation operation = Operation::kCreate;
    kube::ResourceType type;
    std::string subresource;
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

/// The type as which `webhook` is to see the write; nullopt if it is not called. Follows
/// k8s.io/apiserver pkg/admission/plugin/webhook/predicates and generic/webhook.go. Pure.
std::optional<kube::ResourceType> wanted_as(const Webhook& webhook, const WriteToMatch& write);

}  // namespace muster::apiserver
