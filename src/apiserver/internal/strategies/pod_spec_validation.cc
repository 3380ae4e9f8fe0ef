#include "apiserver/internal/strategies/pod_spec_validation.h"

#include "apiserver/internal/strategies/container_validation.h"
#include "apiserver/internal/strategies/pod_defaults.h"
#include "apiserver/internal/strategies/volume_validation.h"
#include "apiserver/internal/writing/metadata_rules.h"
#include "apiserver/objects/json_access.h"
#include "kube/values/name_syntax.h"

namespace muster::apiserver {

namespace {

void check_containers(const json::object& spec, const std::string& in, std::string_view key,
                      bool needed, PodNames& names, FieldErrors& field_errors) {
    const json::array* containers = array_at(spec, key);
    const std::string field = fmt::format("{}.{}", in, key);
    if (containers == nullptr || containers->empty()) {
        if (needed) field_errors.push_back(required(field));
        return;
    }
    for (std::size_t i = 0; i < containers->size(); ++i)
        if (const json::object* container = (*containers)[i].if_object())
            check_container(*container, fmt::format("{}[{}]", field, i), names, field_errors);
}

void check_at_least(const json::object& spec, const std::string& in, std::string_view key,
                    std::int64_t least, FieldErrors& field_errors) {
    const auto number = int_at(spec, key);
    if (number && *number < least)
        field_errors.push_back(
            invalid_value(fmt::format("{}.{}", in, key), json::value(*number),
                          fmt::format("must be greater than or equal to {}", least)));
}

}  // namespace

void check_pod_spec(const json::object& spec, const std::string& in, FieldErrors& field_errors) {
    PodNames names;
    names.volumes = check_volumes(spec, in, field_errors);
    check_containers(spec, in, "containers", true, names, field_errors);
    check_containers(spec, in, "initContainers", false, names, field_errors);
    const std::string_view restart = string_at(spec, "restartPolicy");
    if (restart != "Always" && restart != "OnFailure" && restart != "Never")
        field_errors.push_back(
            not_supported(in + ".restartPolicy", restart, {"Always", "OnFailure", "Never"}));
    const std::string_view dns = string_at(spec, "dnsPolicy");
    if (dns != "ClusterFirstWithHostNet" && dns != "ClusterFirst" && dns != "Default" &&
        dns != "None")
        field_errors.push_back(
            not_supported(in + ".dnsPolicy", dns,
                          {"ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"}));
    check_at_least(spec, in, "terminationGracePeriodSeconds", 0, field_errors);
    check_at_least(spec, in, "activeDeadlineSeconds", 1, field_errors);
    for (const char* key : {"hostname", "subdomain"})
        if (const std::string_view text = string_at(spec, key);
            !text.empty() && !kube::is_dns1123_label(text))
            field_errors.push_back(
                invalid_value(fmt::format("{}.{}", in, key), json::value(text), kDnsLabelMessage));
    for (const char* key : {"nodeName", "serviceAccountName"})
        if (const std::string_view text = string_at(spec, key);
            !text.empty() && !kube::is_dns1123_subdomain(text))
            field_errors.push_back(invalid_value(fmt::format("{}.{}", in, key), json::value(text),
                                                 kDnsSubdomainMessage));
    if (const json::object* selector = object_at(spec, "nodeSelector"))
        check_labels(*selector, in + ".nodeSelector", field_errors);
    if (is_gated(spec) && !string_at(spec, "nodeName").empty())
        field_errors.push_back(forbidden_field(
            in + ".nodeName", "cannot be set until all schedulingGates have been cleared"));
}

}  // namespace muster::apiserver
