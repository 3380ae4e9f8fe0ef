#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/webhook_caller.h"
#include "kube/values/json.h"
#include "store/object_text.h"

namespace muster::apiserver {

/// How the objects of a definition become those of another version: spec.conversion with the
/// strategy Webhook.
struct WebhookConversion {
    WebhookEndpoint endpoint;
    std::string review_version;  ///< of ConversionReview
};

/// spec.conversion of a definition that was checked; null for another strategy.
std::shared_ptr<const WebhookConversion> read_webhook_conversion(const json::object& conversion);

/// What a webhook is asked: to make these objects ones of another version.
struct ConversionQuestion {
    std::string uid;
    std::string review_version;
    std::string desired_api_version;
    std::vector<store::ObjectTextPtr> objects;
};

/// The ConversionReview as JSON.
std::string conversion_text(const ConversionQuestion& question);

/// The converted objects of an answer, each with the metadata that it had before, but for labels and
/// annotations. Or what is wrong with it, in upstream's words: k8s.io/apiextensions-apiserver v0.33,
/// pkg/apiserver/conversion/webhook_converter.go. Any thread.
std::expected<std::vector<store::ObjectTextPtr>, std::string> read_conversion(
    std::string_view answer, const ConversionQuestion& question);

/// "conversion webhook for GROUP/VERSION, Kind=KIND WHAT", about an object that was to be converted.
std::string conversion_failure(const store::ObjectText& object, std::string_view what);

}  // namespace muster::apiserver
