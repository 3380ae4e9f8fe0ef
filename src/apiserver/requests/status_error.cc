#include "apiserver/requests/status_error.h"

#include <algorithm>

namespace muster::apiserver {

namespace {

StatusError about(const kube::ResourceType& type, std::string_view name, Code code,
                  std::string message) {
    return {Error(code, std::move(message)),
            kube::StatusDetails{std::string(name), type.group, type.plural, {}},
            false,
            {}};
}

}  // namespace

StatusError bad_request(std::string message) {
    return {Error(Code::kBadRequest, std::move(message)), kube::StatusDetails{}, false, {}};
}

StatusError not_found(const kube::ResourceType& type, std::string_view name) {
    return about(type, name, Code::kNotFound,
                 fmt::format("{} \"{}\" not found", type.qualified(), name));
}

StatusError already_exists(const kube::ResourceType& type, std::string_view name) {
    return about(type, name, Code::kAlreadyExists,
                 fmt::format("{} \"{}\" already exists", type.qualified(), name));
}

StatusError exists_terminating(const kube::ResourceType& type, std::string_view name) {
    return about(
        type, name, Code::kAlreadyExists,
        fmt::format("object is being deleted: {} \"{}\" already exists", type.qualified(), name));
}

StatusError conflict(const kube::ResourceType& type, std::string_view name, std::string_view why) {
    return about(
        type, name, Code::kConflict,
        fmt::format("Operation cannot be fulfilled on {} \"{}\": {}", type.qualified(), name, why));
}

StatusError stale_write(const kube::ResourceType& type, std::string_view name) {
    return conflict(type, name,
                    "the object has been modified; please apply your changes to the latest version "
                    "and try again");
}

StatusError forbidden(const kube::ResourceType& type, std::string_view name, std::string_view why) {
    std::string object = type.qualified();
    if (!name.empty()) object += fmt::format(" \"{}\"", name);
    return about(type, name, Code::kForbidden, fmt::format("{} is forbidden: {}", object, why));
}

std::string describe(const Cause& cause) {
    return cause.field.empty() ? cause.message : cause.field + ": " + cause.message;
}

StatusError invalid(std::string_view kind, std::string_view group, std::string_view name,
                    std::vector<Cause> field_errors) {
    // No one reads more of them, and an object may have as many as it has fields.
    constexpr std::size_t kMost = 100;
    const std::size_t left_out = field_errors.size() - std::min(field_errors.size(), kMost);
    field_errors.resize(field_errors.size() - left_out);
    std::string text;
    for (const Cause& cause : field_errors) {
        if (!text.empty()) text += ", ";
        text += describe(cause);
    }
    if (left_out > 0) text += fmt::format(", and {} more", left_out);
    if (field_errors.size() > 1) text = "[" + text + "]";
    std::string qualified(kind);
    if (!group.empty()) qualified += fmt::format(".{}", group);
    Error error(Code::kInvalid, fmt::format("{} \"{}\" is invalid: {}", qualified, name, text));
    error.with_causes(std::move(field_errors));
    return {std::move(error),
            kube::StatusDetails{std::string(name), std::string(group), std::string(kind), {}},
            false,
            {}};
}

StatusError invalid(const kube::ResourceType& type, std::string_view name,
                    std::vector<Cause> field_errors) {
    return invalid(type.kind, type.group, name, std::move(field_errors));
}

StatusError invalid_options(std::string_view options_kind, std::vector<Cause> field_errors) {
    return invalid(options_kind, "meta.k8s.io", "", std::move(field_errors));
}

StatusError method_not_allowed() {
    return {Error(Code::kMethodNotAllowed,
                  "the server does not allow this method on the requested resource"),
            kube::StatusDetails{},
            false,
            {},
            true};
}

StatusError unknown_resource() {
    return {Error(Code::kNotFound, "the server could not find the requested resource"),
            kube::StatusDetails{},
            false,
            {},
            true};
}

StatusError unknown_path() {
    return {Error(Code::kNotFound, "404 page not found\n"), kube::StatusDetails{}, true, {}};
}

StatusError unsupported_media_type(std::string message) {
    return {Error(Code::kUnsupported, std::move(message)), kube::StatusDetails{}, false, {}};
}

StatusError internal_error(std::string message) {
    return {Error(Code::kInternal, std::move(message)), kube::StatusDetails{}, false, {}};
}

StatusError unavailable(std::string message) {
    return {Error(Code::kUnavailable, std::move(message)), kube::StatusDetails{}, false, {}};
}

StatusError expired(std::string message) {
    return {Error(Code::kGone, std::move(message)), kube::StatusDetails{}, false, {}};
}

StatusError revision_too_large(std::uint64_t wanted, std::uint64_t current) {
    Error error(Code::kTimeout, fmt::format("Timeout: Too large resource version: {}, current: {}",
                                            wanted, current));
    error.with_causes({{"ResourceVersionTooLarge", "Too large resource version", ""}});
    error.with_retry_after(std::chrono::seconds(1));
    return {std::move(error), kube::StatusDetails{}, false, {}};
}

kube::Response to_response(const StatusError& status_error, const kube::ResourceType* type,
                           std::string_view name) {
    kube::Response response;
    response.status = kube::http_status(status_error.error.code());
    if (status_error.plain_text) {
        response.body = std::make_shared<const json::value>(status_error.error.message());
        return response;
    }
    kube::StatusDetails details;
    if (status_error.details)
        details = *status_error.details;
    else if (type != nullptr)
        details = {std::string(name), type->group, type->plural, {}};
    json::value status = kube::status_from_error(status_error.error, details);
    if (!status_error.continue_token.empty())
        status.at("metadata").get_object()["continue"] = status_error.continue_token;
    if (status_error.about_nothing) status.get_object().emplace("details", json::object());
    response.body = std::make_shared<const json::value>(std::move(status));
    return response;
}

}  // namespace muster::apiserver
