#include "apiserver/internal/api_services/api_service_strategy.h"

#include "apiserver/internal/api_services/availability.h"
#include "apiserver/objects/json_access.h"
#include "apiserver/objects/metadata_words.h"
#include "kube/values/base64.h"
#include "kube/values/name_syntax.h"

namespace muster::apiserver {

namespace {

constexpr std::int64_t kUsualServicePort = 443;
constexpr std::int64_t kHighestPort = 65535;
constexpr std::int64_t kMaxGroupPriority = 20000;
constexpr std::int64_t kMaxVersionPriority = 1000;

void apply_api_service_defaults(json::object& object) {
    json::object* spec = object_at(object, "spec");
    json::object* service = spec == nullptr ? nullptr : object_at(*spec, "service");
    if (service != nullptr) set_default(*service, "port", kUsualServicePort);
}

void prepare_api_service(json::object& object, WallTime now) {
    object["status"].emplace_object();
    if (object_at(child(object, "spec"), "service") == nullptr)
        set_available(object, local_availability(), now);
}

void check_name_and_version(const json::object& object, const json::object& spec,
                            FieldErrors& field_errors) {
    const std::string_view group = string_at(spec, "group");
    const std::string_view version = string_at(spec, "version");
    const std::string wanted = fmt::format("{}.{}", version, group);
    if (name_of(object) != wanted)
        field_errors.push_back(
            invalid_value("metadata.name", json::value(name_of(object)),
                          fmt::format("must be `spec.version+\".\"+spec.group`: \"{}\"", wanted)));
    if (group.empty() && version != "v1")
        field_errors.push_back(
            required("spec.group", "only v1 may have an empty group and it better be legacy kube"));
    if (!group.empty() && !kube::is_dns1123_subdomain(group))
        field_errors.push_back(
            invalid_value("spec.group", json::value(group), kDnsSubdomainMessage));
    if (!kube::is_dns1035_label(version))
        field_errors.push_back(
            invalid_value("spec.version", json::value(version), kDns1035LabelMessage));
}

void check_api_priority(const json::object& spec, std::string_view key, std::int64_t most,
                        FieldErrors& field_errors) {
    const std::int64_t priority = int_at(spec, key).value_or(0);
    if (priority <= 0 || priority > most)
        field_errors.push_back(
            invalid_value(fmt::format("spec.{}", key), json::value(priority),
                          fmt::format("must be positive and less than {}", most)));
}

void check_local(const json::object& spec, std::string_view bundle, FieldErrors& field_errors) {
    if (!bundle.empty())
        field_errors.push_back(invalid_value(
            "spec.caBundle",
            json::value(fmt::format("{} bytes", kube::base64_decode(bundle).value_or("").size())),
            "local APIServices may not have a caBundle"));
    if (bool_at(spec, "insecureSkipTLSVerify"))
        field_errors.push_back(
            invalid_value("spec.insecureSkipTLSVerify", json::value(true),
                          "local APIServices may not have insecureSkipTLSVerify"));
}

void check_served_by(const json::object& spec, const json::object& service, std::string_view bundle,
                     FieldErrors& field_errors) {
    for (const char* key : {"namespace", "name"})
        if (string_at(service, key).empty())
            field_errors.push_back(required(fmt::format("spec.service.{}", key)));
    const std::int64_t port = int_at(service, "port").value_or(kUsualServicePort);
    if (port < 1 || port > kHighestPort)
        field_errors.push_back(invalid_value("spec.service.port", json::value(port),
                                             "port is not valid: must be between 1 and 65535, "
                                             "inclusive"));
    if (bool_at(spec, "insecureSkipTLSVerify") && !bundle.empty())
        field_errors.push_back(invalid_value("spec.insecureSkipTLSVerify", json::value(true),
                                             "may not be true if caBundle is present"));
}

void check_api_conditions(const json::object& object, FieldErrors& field_errors) {
    const json::array* conditions = array_at(child(object, "status"), "conditions");
    for (std::size_t i = 0; conditions != nullptr && i < conditions->size(); ++i) {
        const json::object* condition = (*conditions)[i].if_object();
        if (condition == nullptr) continue;
        const std::string_view status = string_at(*condition, "status");
        if (status != "True" && status != "False" && status != "Unknown")
            field_errors.push_back(not_supported(fmt::format("status.conditions[{}].status", i),
                                                 status, {"True", "False", "Unknown"}));
    }
}

void validate_api_service(const json::object& object, FieldErrors& field_errors) {
    const json::object& spec = child(object, "spec");
    check_name_and_version(object, spec, field_errors);
    check_api_priority(spec, "groupPriorityMinimum", kMaxGroupPriority, field_errors);
    check_api_priority(spec, "versionPriority", kMaxVersionPriority, field_errors);
    const std::string_view bundle = string_at(spec, "caBundle");
    if (const json::object* service = object_at(spec, "service"))
        check_served_by(spec, *service, bundle, field_errors);
    else
        check_local(spec, bundle, field_errors);
    check_api_conditions(object, field_errors);
}

}  // namespace

Strategy api_service_strategy() {
    return {.apply_defaults = apply_api_service_defaults,
            .prepare_create = prepare_api_service,
            .validate = validate_api_service};
}

}  // namespace muster::apiserver
