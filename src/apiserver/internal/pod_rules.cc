#include "apiserver/internal/container_rules.h"
#include "apiserver/internal/json_access.h"
#include "apiserver/internal/kind_rules.h"
#include "apiserver/internal/metadata_rules.h"
#include "apiserver/internal/pod_defaults.h"
#include "kube/equality.h"
#include "kube/name_syntax.h"

namespace muster::apiserver {

namespace {

std::set<std::string, std::less<>> check_volumes(const json::object& spec, Causes& causes) {
    std::set<std::string, std::less<>> names;
    const json::array* volumes = array_at(spec, "volumes");
    if (volumes == nullptr) return names;
    for (std::size_t i = 0; i < volumes->size(); ++i) {
        const json::object* volume = (*volumes)[i].if_object();
        if (volume == nullptr) continue;
        const std::string field = fmt::format("spec.volumes[{}]", i);
        const std::string name(string_at(*volume, "name"));
        if (name.empty())
            causes.push_back(required(field + ".name"));
        else if (!kube::is_dns1123_label(name))
            causes.push_back(invalid_value(field + ".name", json::value(name), kDnsLabelMessage));
        else if (!names.insert(name).second)
            causes.push_back(duplicate(field + ".name", json::value(name)));
        std::string_view first;
        for (const auto& entry : *volume) {
            if (entry.key() == "name") continue;
            if (first.empty())
                first = entry.key();
            else
                causes.push_back(
                    forbidden_field(fmt::format("{}.{}", field, std::string_view(entry.key())),
                                    "may not specify more than 1 volume type"));
        }
        const json::object* path = object_at(*volume, "hostPath");
        if (path != nullptr && string_at(*path, "path").empty())
            causes.push_back(required(field + ".hostPath.path"));
    }
    return names;
}

void check_containers(const json::object& spec, std::string_view key, bool needed, PodNames& names,
                      Causes& causes) {
    const json::array* containers = array_at(spec, key);
    const std::string field = fmt::format("spec.{}", key);
    if (containers == nullptr || containers->empty()) {
        if (needed) causes.push_back(required(field));
        return;
    }
    for (std::size_t i = 0; i < containers->size(); ++i)
        if (const json::object* container = (*containers)[i].if_object())
            check_container(*container, fmt::format("{}[{}]", field, i), names, causes);
}

void check_at_least(const json::object& spec, std::string_view key, std::int64_t least,
                    Causes& causes) {
    const auto number = int_at(spec, key);
    if (number && *number < least)
        causes.push_back(invalid_value(fmt::format("spec.{}", key), json::value(*number),
                                       fmt::format("must be greater than or equal to {}", least)));
}

void validate_pod(const json::object& pod, Causes& causes) {
    const json::object* spec = object_at(pod, "spec");
    if (spec == nullptr) {
        causes.push_back(required("spec.containers"));
        return;
    }
    PodNames names;
    names.volumes = check_volumes(*spec, causes);
    check_containers(*spec, "containers", true, names, causes);
    check_containers(*spec, "initContainers", false, names, causes);
    const std::string_view restart = string_at(*spec, "restartPolicy");
    if (restart != "Always" && restart != "OnFailure" && restart != "Never")
        causes.push_back(
            not_supported("spec.restartPolicy", restart, {"Always", "OnFailure", "Never"}));
    const std::string_view dns = string_at(*spec, "dnsPolicy");
    if (dns != "ClusterFirstWithHostNet" && dns != "ClusterFirst" && dns != "Default" &&
        dns != "None")
        causes.push_back(not_supported(
            "spec.dnsPolicy", dns, {"ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"}));
    check_at_least(*spec, "terminationGracePeriodSeconds", 0, causes);
    check_at_least(*spec, "activeDeadlineSeconds", 1, causes);
    for (const char* key : {"hostname", "subdomain"})
        if (const std::string_view text = string_at(*spec, key);
            !text.empty() && !kube::is_dns1123_label(text))
            causes.push_back(
                invalid_value(fmt::format("spec.{}", key), json::value(text), kDnsLabelMessage));
    for (const char* key : {"nodeName", "serviceAccountName"})
        if (const std::string_view text = string_at(*spec, key);
            !text.empty() && !kube::is_dns1123_subdomain(text))
            causes.push_back(invalid_value(fmt::format("spec.{}", key), json::value(text),
                                           kDnsSubdomainMessage));
    if (const json::object* selector = object_at(*spec, "nodeSelector"))
        check_labels(*selector, "spec.nodeSelector", causes);
    if (is_gated(*spec) && !string_at(*spec, "nodeName").empty())
        causes.push_back(forbidden_field(
            "spec.nodeName", "cannot be set until all schedulingGates have been cleared"));
}

void take_images(json::object& next, const json::object& current, std::string_view key) {
    json::array* containers = array_at(next, key);
    const json::array* stored = array_at(current, key);
    if (containers == nullptr || stored == nullptr || containers->size() != stored->size()) return;
    for (std::size_t i = 0; i < stored->size(); ++i) {
        json::object* container = (*containers)[i].if_object();
        const json::object* before = (*stored)[i].if_object();
        if (container == nullptr || before == nullptr) continue;
        if (const json::value* image = before->if_contains("image")) (*container)["image"] = *image;
    }
}

/// Whether each entry of the one list is in the other, too.
bool all_within(const json::object& spec, const json::object& other, std::string_view key) {
    const json::array* entries = array_at(spec, key);
    const json::array* among = array_at(other, key);
    if (entries == nullptr) return true;
    return std::ranges::all_of(*entries, [&](const json::value& entry) {
        return among != nullptr && std::ranges::find(*among, entry) != among->end();
    });
}

/// Who holds a pod by a gate may still say more exactly where it goes.
bool only_narrows_selector(const json::object& next, const json::object& current) {
    const json::object* before = object_at(current, "nodeSelector");
    const json::object* after = object_at(next, "nodeSelector");
    if (before == nullptr) return true;
    return std::ranges::all_of(*before, [&](const auto& kept) {
        const json::value* now = after == nullptr ? nullptr : after->if_contains(kept.key());
        return now != nullptr && *now == kept.value();
    });
}

void validate_pod_update(const json::object& next, const json::object& current, Causes& causes) {
    const json::object* before = object_at(current, "spec");
    const json::object* after = object_at(next, "spec");
    if (before == nullptr || after == nullptr || kube::equal(*before, *after)) return;
    json::object rest = *after;
    take_images(rest, *before, "containers");
    take_images(rest, *before, "initContainers");
    const auto keep = [&](std::string_view key) {
        if (const json::value* stored = before->if_contains(key))
            rest[key] = *stored;
        else
            rest.erase(key);
    };
    const auto old_deadline = int_at(*before, "activeDeadlineSeconds");
    const auto new_deadline = int_at(*after, "activeDeadlineSeconds");
    if (new_deadline && (!old_deadline || *new_deadline <= *old_deadline))
        keep("activeDeadlineSeconds");
    if (all_within(*before, *after, "tolerations")) keep("tolerations");
    if (all_within(*after, *before, "schedulingGates")) keep("schedulingGates");
    if (is_gated(*before) && only_narrows_selector(*after, *before)) keep("nodeSelector");
    if (int_at(*before, "terminationGracePeriodSeconds").value_or(0) < 0 &&
        int_at(*after, "terminationGracePeriodSeconds") == 1)
        keep("terminationGracePeriodSeconds");
    if (kube::equal(rest, *before)) return;
    causes.push_back(forbidden_field(
        "spec",
        "pod updates may not change fields other than "
        "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
        "`spec.tolerations` (only additions to existing tolerations),"
        "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously "
        "negative)"));
}

}  // namespace

KindRules pod_rules() {
    return {.apply_defaults = set_pod_defaults,
            .prepare_create = prepare_pod,
            .validate = validate_pod,
            .validate_update = validate_pod_update};
}

}  // namespace muster::apiserver
