#include "apiserver/internal/admission/webhook.h"

#include <algorithm>
#include <charconv>

#include "apiserver/internal/admission/webhook_url.h"
#include "apiserver/objects/json_access.h"
#include "apiserver/objects/label_selection.h"
#include "kube/values/base64.h"

namespace muster::apiserver {

namespace {

constexpr std::string_view kAny = "*";
constexpr std::int64_t kUsualSeconds = 10;

bool has(const std::vector<std::string>& list, std::string_view wanted) {
    return std::ranges::find(list, wanted) != list.end();
}
bool has_or_any(const std::vector<std::string>& list, std::string_view wanted) {
    return has(list, kAny) || has(list, wanted);
}

WebhookEndpoint endpoint_of(const json::object& config) {
    WebhookEndpoint endpoint;
    endpoint.ca_pem = kube::base64_decode(string_at(config, "caBundle")).value_or("");
    if (const json::object* service = object_at(config, "service")) {
        endpoint.service = ServiceName{std::string(string_at(*service, "namespace")),
                                       std::string(string_at(*service, "name"))};
        endpoint.host =
            fmt::format("{}.{}.svc", string_at(*service, "name"), string_at(*service, "namespace"));
        endpoint.port = static_cast<std::uint16_t>(int_at(*service, "port").value_or(443));
        endpoint.path = string_at(*service, "path");
        if (!endpoint.path.starts_with('/')) endpoint.path.insert(0, "/");
        return endpoint;
    }
    if (const auto url = parse_webhook_url(string_at(config, "url"))) {
        endpoint.host = url->host;
        endpoint.port = url->port;
        endpoint.path = url->path;
    }
    return endpoint;
}

WebhookRule rule_of(const json::object& rule) {
    const std::string_view scope = string_at(rule, "scope");
    return {.operations = strings_at(rule, "operations"),
            .groups = strings_at(rule, "apiGroups"),
            .versions = strings_at(rule, "apiVersions"),
            .resources = strings_at(rule, "resources"),
            .scope = std::string(scope.empty() ? kAny : scope)};
}

/// A selector that the kind's validation has accepted.
kube::LabelSelector selector_at(const json::object& entry, std::string_view key) {
    auto selector = label_selector_of(object_at(entry, key));
    return selector ? *std::move(selector) : kube::LabelSelector();
}

Webhook webhook_of(const json::object& entry) {
    Webhook webhook;
    webhook.name = string_at(entry, "name");
    if (const json::object* config = object_at(entry, "clientConfig"))
        webhook.endpoint = endpoint_of(*config);
    if (const json::array* rules = array_at(entry, "rules"))
        for (const json::value& rule : *rules)
            if (const json::object* fields = rule.if_object())
                webhook.rules.push_back(rule_of(*fields));
    webhook.namespaces = selector_at(entry, "namespaceSelector");
    webhook.objects = selector_at(entry, "objectSelector");
    webhook.ignores_failure = string_at(entry, "failurePolicy") == "Ignore";
    webhook.exact_version = string_at(entry, "matchPolicy") == "Exact";
    const std::string_view effects = string_at(entry, "sideEffects");
    webhook.allows_dry_run = effects == "None" || effects == "NoneOnDryRun";
    webhook.reinvoked = string_at(entry, "reinvocationPolicy") == "IfNeeded";
    webhook.review_version =
        has(strings_at(entry, "admissionReviewVersions"), "v1") ? "v1" : "v1beta1";
    webhook.time_limit =
        std::chrono::seconds(int_at(entry, "timeoutSeconds").value_or(kUsualSeconds));
    return webhook;
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

bool in_scope(const WebhookRule& rule, const kube::ResourceType& type) {
    // A namespace itself counts as outside of namespaces.
    return rule.scope == kAny || (rule.scope == "Namespaced") == type.namespaced;
}

/// Whether it wants the write if it were one through `type`.
bool wants(const Webhook& webhook, const WriteToMatch& write, const kube::ResourceType& type) {
    return std::ranges::any_of(webhook.rules, [&](const WebhookRule& rule) {
        return has_or_any(rule.operations, to_string(write.operation)) &&
               has_or_any(rule.groups, type.group) && has_or_any(rule.versions, type.version) &&
               in_scope(rule, type) &&
               std::ranges::any_of(rule.resources, [&](const std::string& pattern) {
                   return names_resource(pattern, type.plural, write.subresource);
               });
    });
}

std::optional<kube::ResourceType> wanted_by_rules(const Webhook& webhook,
                                                  const WriteToMatch& write) {
    if (wants(webhook, write, write.type)) return write.type;
    if (webhook.exact_version) return std::nullopt;
    for (const kube::ResourceType& type : write.served_as)
        if (wants(webhook, write, type)) return type;
    return std::nullopt;
}

bool selects(const kube::LabelSelector& selector, const json::object* object) {
    return object != nullptr && matches_labels(selector, object_at(metadata_of(*object), "labels"));
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

std::vector<Webhook> read_webhooks(const json::object& configuration) {
    std::vector<Webhook> webhooks;
    if (const json::array* entries = array_at(configuration, "webhooks"))
        for (const json::value& entry : *entries)
            if (const json::object* fields = entry.if_object())
                webhooks.push_back(webhook_of(*fields));
    return webhooks;
}

std::optional<kube::ResourceType> wanted_as(const Webhook& webhook, const WriteToMatch& write) {
    const bool namespaced = write.namespace_labels != nullptr;
    if (namespaced && !matches_labels(webhook.namespaces, write.namespace_labels))
        return std::nullopt;
    const bool selected = webhook.objects.empty() || selects(webhook.objects, write.before) ||
                          selects(webhook.objects, write.after);
    return selected ? wanted_by_rules(webhook, write) : std::nullopt;
}

}  // namespace muster::apiserver
