#include "apiserver_http/internal/wire/media_type.h"

#include <map>
#include <string>

#include "base/fields.h"
#include "base/lower_case.h"
#include "base/trimmed.h"

namespace muster::apiserver_http {

namespace {

constexpr std::string_view kBlank = " \t";

std::string_view take(std::string_view& text, char separator) {
    return trimmed(take_field(text, separator), kBlank);
}

/// "application/json;as=Table;v=v1".
struct MediaType {
    std::string name;
    std::map<std::string, std::string, std::less<>> parameters;

    std::string_view parameter(std::string_view key) const {
        auto found = parameters.find(key);
        return found == parameters.end() ? std::string_view() : found->second;
    }
};

MediaType parse_media_type(std::string_view text) {
    MediaType type;
    type.name = lower_case(take(text, ';'));
    while (!text.empty()) {
        std::string_view parameter = take(text, ';');
        const std::string key(take(parameter, '='));
        type.parameters.emplace(key, trimmed(parameter, kBlank));
    }
    return type;
}

/// Nullopt: not served in this form.
std::optional<Form> form_of(const MediaType& type, Answers answers) {
    // Go's clients have used two spellings.
    if (answers == Answers::kOpenApiV2 &&
        type.name.starts_with("application/com.github.proto-openapi.spec.v2"))
        return Form::kProtobuf;
    if (type.name != "application/json" && type.name != kYamlType && type.name != "application/*" &&
        type.name != "*/*")
        return std::nullopt;
    const std::string_view as = type.parameter("as");
    if (as.empty()) return Form::kObject;
    const std::string_view group = type.parameter("g");
    const std::string_view version = type.parameter("v");
    if (answers == Answers::kDiscovery)
        return as == "APIGroupDiscoveryList" && group == "apidiscovery.k8s.io" && version == "v2"
                   ? std::optional(Form::kDiscovery)
                   : std::nullopt;
    if (group != "meta.k8s.io" || (version != "v1" && version != "v1beta1")) return std::nullopt;
    if (as == "Table") return Form::kTable;
    if (as == "PartialObjectMetadata" || as == "PartialObjectMetadataList") return Form::kMetadata;
    return std::nullopt;
}

apiserver::StatusError unreadable(bool patch) {
    return apiserver::unsupported_media_type(
        patch ? "the body of the request was in an unknown format - accepted media types include: "
                "application/json-patch+json, application/merge-patch+json, "
                "application/strategic-merge-patch+json, application/apply-patch+yaml"
              : "the body of the request was in an unknown format - accepted media types include: "
                "application/json, application/yaml, application/vnd.kubernetes.protobuf");
}

}  // namespace

std::optional<AcceptedForm> choose_form(std::string_view accept, Answers answers) {
    if (trimmed(accept, kBlank).empty()) return AcceptedForm{};
    for (std::string_view left = accept; !left.empty();) {
        const MediaType type = parse_media_type(take(left, ','));
        if (const auto form = form_of(type, answers))
            return AcceptedForm{*form, type.name == kYamlType};
    }
    return std::nullopt;
}

apiserver::StatusResult<BodyType> body_type(std::string_view content_type, kube::Method method) {
    const std::string name = parse_media_type(content_type).name;
    using enum kube::ContentType;
    if (method == kube::Method::kPatch) {
        if (name == "application/json-patch+json") return BodyType{.content = kJsonPatch};
        if (name == "application/merge-patch+json") return BodyType{.content = kMergePatch};
        if (name == "application/strategic-merge-patch+json")
            return BodyType{.content = kStrategicMergePatch};
        if (name == "application/apply-patch+yaml")
            return BodyType{.format = BodyFormat::kYaml, .content = kApplyPatch};
        return unreadable(true);
    }
    if (name.empty() || name == "application/json") return BodyType{};
    if (name == kYamlType) return BodyType{.format = BodyFormat::kYaml};
    if (name == "application/vnd.kubernetes.protobuf")
        return BodyType{.format = BodyFormat::kProtobuf};
    return unreadable(false);
}

}  // namespace muster::apiserver_http
