#include "apiserver/internal/admission/webhook.h"

#include <algorithm>

#include "apiserver/internal/webhooks/webhook_client_config.h"
#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {

constexpr std::int64_t kUsualSeconds = 10;

Webhook webhook_of(const json::object& entry) {
    Webhook webhook;
    webhook.name = string_at(entry, "name");
    if (const json::object* config = object_at(entry, "clientConfig"))
        webhook.endpoint = endpoint_of(*config);
    webhook.writes = read_selection(entry);
    webhook.conditions = read_match_conditions(entry, /*params=*/false);
    webhook.ignores_failure = string_at(entry, "failurePolicy") == "Ignore";
    const std::string_view effects = string_at(entry, "sideEffects");
    webhook.allows_dry_run = effects == "None" || effects == "NoneOnDryRun";
    webhook.reinvoked = string_at(entry, "reinvocationPolicy") == "IfNeeded";
    const std::vector<std::string> versions = strings_at(entry, "admissionReviewVersions");
    webhook.review_version = std::ranges::find(versions, "v1") != versions.end() ? "v1" : "v1beta1";
    webhook.time_limit =
        std::chrono::seconds(int_at(entry, "timeoutSeconds").value_or(kUsualSeconds));
    return webhook;
}

}  // namespace

std::vector<Webhook> read_webhooks(const json::object& configuration) {
    std::vector<Webhook> webhooks;
    if (const json::array* entries = array_at(configuration, "webhooks"))
        for (const json::value& entry : *entries)
            if (const json::object* fields = entry.if_object())
                webhooks.push_back(webhook_of(*fields));
    return webhooks;
}

}  // namespace muster::apiserver
