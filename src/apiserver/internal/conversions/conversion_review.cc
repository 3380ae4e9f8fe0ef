#include "apiserver/internal/conversions/conversion_review.h"

#include <algorithm>

#include "apiserver/internal/webhooks/webhook_client_config.h"
#include "apiserver/objects/json_access.h"
#include "apiserver/objects/metadata_words.h"
#include "apiserver/objects/text_fields.h"
#include "apiserver/requests/json_body.h"
#include "kube/values/document.h"

namespace muster::apiserver {

namespace {

constexpr std::string_view kGroup = "apiextensions.k8s.io/";
/// For names and labels that are longer than before.
constexpr std::size_t kSpareBytes = 2048;

std::unexpected<std::string> failed(std::string_view why) {
    return std::unexpected(fmt::format("failed: {}", why));
}

std::string joined(const FieldErrors& field_errors) {
    std::string text;
    for (const Cause& cause : field_errors)
        text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", cause.field, cause.message);
    return field_errors.size() > 1 ? fmt::format("[{}]", text) : text;
}

/// Replaces labels or annotations of `restored` by those of the converted object.
std::expected<void, std::string> take_words(std::string_view key, const json::object& converted,
                                            json::object& restored) {
    const json::value* given = converted.if_contains(key);
    if (given == nullptr || given->is_null()) {
        restored.erase(key);
        return {};
    }
    const json::object* words = given->if_object();
    if (words == nullptr)
        return std::unexpected(fmt::format("invalid metadata.{} in converted object", key));
    for (const auto& [name, value] : *words)
        if (!value.is_string())
            return std::unexpected(
                fmt::format("metadata.{}[{}] must be a string in converted object", key,
                            std::string_view(name)));
    FieldErrors field_errors;
    const json::value* before = restored.if_contains(key);
    if (before == nullptr || *before != *given) {
        if (key == "labels")
            check_labels(*words, "metadata.labels", field_errors);
        else
            check_annotations(*words, "metadata.annotation", field_errors);
    }
    if (!field_errors.empty()) return std::unexpected(joined(field_errors));
    restored[key] = *given;
    return {};
}

/// The metadata of the original with the labels and annotations of the converted object.
std::expected<json::value, std::string> restored_metadata(const json::object& original,
                                                          const json::object& converted) {
    const json::value* given = converted.if_contains("metadata");
    if (given == nullptr) return std::unexpected("missing metadata in converted object");
    if (!given->is_object()) return std::unexpected("invalid metadata in converted object");
    json::object restored = kube::copy_of(metadata_of(original));
    for (const std::string_view key : {"labels", "annotations"})
        if (auto taken = take_words(key, given->get_object(), restored); !taken)
            return std::unexpected(std::move(taken.error()));
    return json::value(std::move(restored));
}

/// Why it is not the same object in the other version; empty if it is.
std::string difference(const json::object& original, const json::object& converted,
                       std::string_view desired) {
    const std::string_view version = string_at(converted, "apiVersion");
    if (version != desired)
        return fmt::format("object at index 0: invalid groupVersion (expected {}, received {})",
                           desired, version);
    const std::string_view kind = string_at(original, "kind");
    if (kind != string_at(converted, "kind"))
        return fmt::format("object at index 0: invalid kind (expected {}, received {})", kind,
                           string_at(converted, "kind"));
    const json::object& before = metadata_of(original);
    const json::object& after = metadata_of(converted);
    for (const auto& [key, word] :
         {std::pair("name", "name"), std::pair("namespace", "namespace"), std::pair("uid", "UID")})
        if (string_at(before, key) != string_at(after, key))
            return fmt::format("object: must have the same {}: {} != {}", word,
                               string_at(before, key), string_at(after, key));
    return {};
}

std::expected<store::ObjectTextPtr, std::string> restored(const store::ObjectText& before,
                                                          const json::value& answer,
                                                          std::string_view desired) {
    const json::object* converted = answer.if_object();
    static const json::object kNothing;
    const kube::ObjectPtr tree = before.own_tree();
    const json::object& original = tree->get_object();
    const json::object& given = converted == nullptr ? kNothing : *converted;
    if (std::string why = difference(original, given, desired); !why.empty())
        return std::unexpected(fmt::format("returned invalid {}", why));
    auto metadata = restored_metadata(original, given);
    if (!metadata)
        return std::unexpected(fmt::format("returned invalid metadata: {}", metadata.error()));
    kube::Document made(answer, kube::tree_bytes(*metadata) + kSpareBytes);
    made.object()["metadata"] = *metadata;
    // Its text alone is kept: the tree would be shared among threads.
    return std::make_shared<const store::ObjectText>(json::serialize(made.value()));
}

/// The converted objects of an answer that says that it went well.
std::expected<const json::array*, std::string> converted_in(const json::object& review,
                                                            const ConversionQuestion& question) {
    const std::string wanted = fmt::format("{}{}", kGroup, question.review_version);
    if (string_at(review, "kind") != "ConversionReview" ||
        string_at(review, "apiVersion") != wanted)
        return failed(
            fmt::format("expected webhook response of {}, Kind=ConversionReview, got {}, "
                        "Kind={}",
                        wanted, string_at(review, "apiVersion"), string_at(review, "kind")));
    const json::object* response = object_at(review, "response");
    if (response == nullptr) return failed("no response provided");
    if (question.review_version == "v1" && string_at(*response, "uid") != question.uid)
        return failed(fmt::format("expected response.uid=\"{}\", got \"{}\"", question.uid,
                                  string_at(*response, "uid")));
    static const json::object kNoResult;
    const json::object* result = object_at(*response, "result");
    if (result == nullptr) result = &kNoResult;
    if (string_at(*result, "status") != "Success") {
        const std::string_view message = string_at(*result, "message");
        if (!message.empty()) return failed(message);
        return failed(fmt::format("response.result.status was '{}', not 'Success'",
                                  string_at(*result, "status")));
    }
    static const json::array kNone;
    const json::array* objects = array_at(*response, "convertedObjects");
    return objects == nullptr ? &kNone : objects;
}

}  // namespace

std::shared_ptr<const WebhookConversion> read_webhook_conversion(const json::object& conversion) {
    const json::object* webhook = object_at(conversion, "webhook");
    const json::object* client = webhook == nullptr ? nullptr : object_at(*webhook, "clientConfig");
    if (string_at(conversion, "strategy") != "Webhook" || client == nullptr) return nullptr;
    const std::vector<std::string> versions = strings_at(*webhook, "conversionReviewVersions");
    const auto known = std::ranges::find_if(
        versions, [](const std::string& each) { return each == "v1" || each == "v1beta1"; });
    return std::make_shared<const WebhookConversion>(
        WebhookConversion{endpoint_of(*client), known == versions.end() ? "v1" : *known});
}

std::string conversion_text(const ConversionQuestion& question) {
    std::string text =
        fmt::format(R"({{"kind":"ConversionReview","apiVersion":"{}{}","request":{{"uid":"{}",)"
                    R"("desiredAPIVersion":{},"objects":[)",
                    kGroup, question.review_version, question.uid,
                    json::serialize(json::value(question.desired_api_version)));
    for (const store::ObjectTextPtr& object : question.objects) {
        if (text.back() != '[') text += ',';
        text += object->text();
    }
    return text + "]}}";
}

std::expected<std::vector<store::ObjectTextPtr>, std::string> read_conversion(
    std::string_view answer, const ConversionQuestion& question) {
    const auto review = parse_json_body(answer);
    if (!review) return failed(review.error().error.message());
    const json::object* fields = review->value == nullptr ? nullptr : review->value->if_object();
    if (fields == nullptr) return failed("couldn't get version/kind: it is not a JSON object");
    const auto objects = converted_in(*fields, question);
    if (!objects) return std::unexpected(objects.error());
    if ((*objects)->size() != question.objects.size())
        return std::unexpected(fmt::format("returned {} objects, expected {}", (*objects)->size(),
                                           question.objects.size()));
    std::vector<store::ObjectTextPtr> made;
    for (std::size_t i = 0; i < question.objects.size(); ++i) {
        auto one = restored(*question.objects[i], (**objects)[i], question.desired_api_version);
        if (!one) return std::unexpected(std::move(one.error()));
        made.push_back(*std::move(one));
    }
    return made;
}

std::string conversion_failure(const store::ObjectText& object, std::string_view what) {
    return fmt::format("conversion webhook for {}, Kind={} {}",
                       string_at_path(object.text(), "apiVersion"),
                       string_at_path(object.text(), "kind"), what);
}

}  // namespace muster::apiserver
