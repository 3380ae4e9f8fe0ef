#include "apiserver/internal/types/crd_conversion.h"

#include <algorithm>
#include <set>

#include "apiserver/internal/webhooks/webhook_client_config.h"
#include "apiserver/objects/json_access.h"
#include "apiserver/objects/metadata_words.h"
#include "kube/values/name_syntax.h"

namespace muster::apiserver {

namespace {

constexpr std::int64_t kHttps = 443;
/// Each wrong one is an error.
constexpr std::size_t kMostVersions = 100;

// Upstream's fields of the internal type, which its messages name.
constexpr const char* kClientField = "spec.conversion.webhookClientConfig";
constexpr const char* kVersionsField = "spec.conversion.conversionReviewVersions";

void check_review_versions(const std::vector<std::string>& versions, FieldErrors& field_errors) {
    if (versions.empty()) {
        field_errors.push_back(required(kVersionsField));
        return;
    }
    if (versions.size() > kMostVersions) {
        field_errors.push_back(too_many(kVersionsField, versions.size(), kMostVersions));
        return;
    }
    std::set<std::string_view> seen;
    bool known = false;
    for (std::size_t i = 0; i < versions.size(); ++i) {
        const std::string field = fmt::format("{}[{}]", kVersionsField, i);
        if (!seen.insert(versions[i]).second)
            field_errors.push_back(
                invalid_value(field, json::value(versions[i]), "duplicate version"));
        else if (!kube::is_dns1035_label(versions[i]))
            field_errors.push_back(
                invalid_value(field, json::value(versions[i]), kDns1035LabelMessage));
        known |= versions[i] == "v1" || versions[i] == "v1beta1";
    }
    if (!known)
        field_errors.push_back(invalid_value(kVersionsField, json::value_from(versions),
                                             "must include at least one of v1, v1beta1"));
}

}  // namespace

void set_conversion_defaults(json::value& conversion) {
    json::object* fields = conversion.if_object();
    json::object* webhook = fields == nullptr ? nullptr : object_at(*fields, "webhook");
    json::object* config = webhook == nullptr ? nullptr : object_at(*webhook, "clientConfig");
    json::object* service = config == nullptr ? nullptr : object_at(*config, "service");
    if (service != nullptr) set_default(*service, "port", kHttps);
}

void check_conversion(const json::object& crd, FieldErrors& field_errors) {
    const json::object& conversion = child(child(crd, "spec"), "conversion");
    const std::string_view strategy = string_at(conversion, "strategy");
    const json::object* webhook = object_at(conversion, "webhook");
    const json::object* client = webhook == nullptr ? nullptr : object_at(*webhook, "clientConfig");
    const std::vector<std::string> versions =
        webhook == nullptr ? std::vector<std::string>()
                           : strings_at(*webhook, "conversionReviewVersions");
    if (strategy.empty())
        field_errors.push_back(required("spec.conversion.strategy"));
    else if (strategy != "None" && strategy != "Webhook")
        field_errors.push_back(
            not_supported("spec.conversion.strategy", strategy, {"None", "Webhook"}));
    if (strategy == "Webhook") {
        if (client == nullptr)
            field_errors.push_back(
                required(kClientField, "required when strategy is set to Webhook"));
        else
            check_client_config(*client, kClientField, field_errors);
        check_review_versions(versions, field_errors);
        return;
    }
    constexpr std::string_view kNotHere = "should not be set when strategy is not set to Webhook";
    if (client != nullptr) field_errors.push_back(forbidden_field(kClientField, kNotHere));
    if (!versions.empty()) field_errors.push_back(forbidden_field(kVersionsField, kNotHere));
}

}  // namespace muster::apiserver
