#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "apiserver_http/internal/printing/cell_text.h"
#include "apiserver_http/internal/printing/fields.h"
#include "apiserver_http/internal/printing/printer.h"
#include "base/lower_case.h"
#include "base/trimmed.h"

namespace muster::apiserver_http {

namespace {

constexpr Column kNodeColumns[] = {
    kNameColumn,
    {"Status", "string", "", "Whether it is ready, and whether pods may be put on it."},
    {"Roles", "string", "", "What its labels say that it is for."},
    kAgeColumn,
    {"Version", "string", "", "The version of what runs its pods."},
    {"Internal-IP", "string", "", "Its first address inside of the cluster.", 1},
    {"External-IP", "string", "", "Its first address outside of it.", 1},
    {"OS-Image", "string", "", "Its operating system.", 1},
    {"Kernel-Version", "string", "", "Its kernel.", 1},
    {"Container-Runtime", "string", "", "What starts its containers.", 1},
};

std::string node_status(const json::object& node) {
    std::string text = "Unknown";
    for (const json::object* condition : objects_at(child(node, "status"), "conditions"))
        if (string_at(*condition, "type") == "Ready")
            text = string_at(*condition, "status") == "True" ? "Ready" : "NotReady";
    if (bool_at(child(node, "spec"), "unschedulable")) text += ",SchedulingDisabled";
    return text;
}

std::string node_roles(const json::object& node) {
    constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
    std::set<std::string> roles;
    for (const auto& [key, value] : child(metadata_of(node), "labels")) {
        const std::string_view name = key;
        if (name.starts_with(kPrefix) && name.size() > kPrefix.size())
            roles.emplace(name.substr(kPrefix.size()));
        else if (name == "kubernetes.io/role" && !apiserver::scalar_text(&value).empty())
            roles.insert(apiserver::scalar_text(&value));
    }
    return or_else(joined({roles.begin(), roles.end()}), apiserver::kNoneText);
}

std::string node_address(const json::object& node, std::string_view type) {
    for (const json::object* address : objects_at(child(node, "status"), "addresses"))
        if (string_at(*address, "type") == type) return std::string(string_at(*address, "address"));
    return std::string(apiserver::kNoneText);
}

json::array node_cells(const json::object& node, WallTime now) {
    const json::object& info = child(child(node, "status"), "nodeInfo");
    return {name_of(node),
            node_status(node),
            node_roles(node),
            age_of(node, now),
            string_at(info, "kubeletVersion"),
            node_address(node, "InternalIP"),
            node_address(node, "ExternalIP"),
            or_else(string_at(info, "osImage"), kUnknownText),
            or_else(string_at(info, "kernelVersion"), kUnknownText),
            or_else(string_at(info, "containerRuntimeVersion"), kUnknownText)};
}

constexpr Column kNamespaceColumns[] = {
    kNameColumn,
    {"Status", "string", "", "Whether it is in use or on its way out."},
    kAgeColumn,
};

json::array namespace_cells(const json::object& ns, WallTime now) {
    return {name_of(ns), string_at(child(ns, "status"), "phase"), age_of(ns, now)};
}

constexpr Column kEventColumns[] = {
    {"Last Seen", "string", "", "Time since it happened last."},
    {"Type", "string", "", "Normal or Warning."},
    {"Reason", "string", "", "What happened, in one word."},
    {"Object", "string", "", "What it happened to."},
    {"Subobject", "string", "", "To which part of that.", 1},
    {"Source", "string", "", "What reports it.", 1},
    {"Message", "string", "", "What happened, in a sentence."},
    {"First Seen", "string", "", "Time since it happened first.", 1},
    {"Count", "string", "", "How often it happened.", 1},
    {"Name", "string", "name", kNameColumn.description, 1},
};

std::string_view first_of(std::string_view a, std::string_view b) { return a.empty() ? b : a; }
/// The text under either name.
std::string_view either(const json::object& parent, std::string_view a, std::string_view b) {
    return first_of(string_at(parent, a), string_at(parent, b));
}

/// For v1 and events.k8s.io/v1, which have different names for most fields; and for the two
/// generations of events, which keep times, counts and reporters in different ones.
json::array event_cells(const json::object& event, WallTime now) {
    const json::object* series = object_at(event, "series");
    const json::object& about =
        child(event, event.contains("regarding") ? "regarding" : "involvedObject");
    const json::object& source =
        child(event, event.contains("deprecatedSource") ? "deprecatedSource" : "source");
    const std::string_view first = first_of(
        either(event, "firstTimestamp", "deprecatedFirstTimestamp"), string_at(event, "eventTime"));
    std::string_view last =
        first_of(either(event, "lastTimestamp", "deprecatedLastTimestamp"), first);
    std::int64_t count =
        std::max<std::int64_t>({1, number_at(event, "count"), number_at(event, "deprecatedCount")});
    if (series != nullptr) {
        last = string_at(*series, "lastObservedTime");
        count = number_at(*series, "count");
    }
    std::string object = lower_case(string_at(about, "kind"));
    if (const std::string_view name = string_at(about, "name"); !name.empty())
        object += fmt::format("/{}", name);
    std::string reporter(first_of(string_at(source, "component"),
                                  either(event, "reportingComponent", "reportingController")));
    const std::string_view instance =
        first_of(string_at(source, "host"), string_at(event, "reportingInstance"));
    if (!instance.empty()) reporter += fmt::format(", {}", instance);
    return {age_text(last, now),
            string_at(event, "type"),
            string_at(event, "reason"),
            object,
            string_at(about, "fieldPath"),
            reporter,
            trimmed(either(event, "message", "note"), " \t\r\n\v\f"),
            age_text(first, now),
            count,
            name_of(event)};
}

constexpr Column kApiServiceColumns[] = {
    kNameColumn,
    {"Service", "string", "", "The service of the server behind it, or Local."},
    {"Available", "string", "", "Whether that can be reached, and why not."},
    kAgeColumn,
};

json::array api_service_cells(const json::object& object, WallTime now) {
    const json::object* service = object_at(child(object, "spec"), "service");
    std::string available = "Unknown";
    for (const json::object* condition : objects_at(child(object, "status"), "conditions")) {
        if (string_at(*condition, "type") != "Available") continue;
        available = string_at(*condition, "status");
        const std::string_view reason = string_at(*condition, "reason");
        if (available != "True" && !reason.empty()) available += fmt::format(" ({})", reason);
        break;
    }
    return {name_of(object),
            service == nullptr ? "Local"
                               : fmt::format("{}/{}", string_at(*service, "namespace"),
                                             string_at(*service, "name")),
            available, age_of(object, now)};
}

constexpr Column kConfigMapColumns[] = {
    kNameColumn,
    {"Data", "string", "", "How many keys it has."},
    kAgeColumn,
};

json::array config_map_cells(const json::object& map, WallTime now) {
    return {name_of(map), child(map, "data").size() + child(map, "binaryData").size(),
            age_of(map, now)};
}

constexpr Column kSecretColumns[] = {
    kNameColumn,
    {"Type", "string", "", "What its keys mean."},
    {"Data", "string", "", "How many keys it has."},
    kAgeColumn,
};

json::array secret_cells(const json::object& secret, WallTime now) {
    return {name_of(secret), string_at(secret, "type"), child(secret, "data").size(),
            age_of(secret, now)};
}

constexpr Column kNameAndAge[] = {kNameColumn, kAgeColumn};

json::array name_and_age(const json::object& object, WallTime now) {
    return {name_of(object), age_of(object, now)};
}

constexpr Column kLeaseColumns[] = {
    kNameColumn,
    {"Holder", "string", "", "Who has it."},
    kAgeColumn,
};

json::array lease_cells(const json::object& lease, WallTime now) {
    return {name_of(lease), string_at(child(lease, "spec"), "holderIdentity"), age_of(lease, now)};
}

constexpr Column kWebhookColumns[] = {
    kNameColumn,
    {"Webhooks", "integer", "", "How many webhooks it names."},
    kAgeColumn,
};

json::array webhook_cells(const json::object& configuration, WallTime now) {
    return {name_of(configuration), objects_at(configuration, "webhooks").size(),
            age_of(configuration, now)};
}

constexpr Column kAdmissionPolicyColumns[] = {
    kNameColumn,
    {"Validations", "integer", "", "How many validations it has."},
    {"ParamKind", "string", "", "The kind of its parameters."},
    kAgeColumn,
};

json::array admission_policy_cells(const json::object& policy, WallTime now) {
    const json::object& spec = child(policy, "spec");
    const json::object* kind = object_at(spec, "paramKind");
    const std::string params =
        kind == nullptr
            ? "<unset>"
            : fmt::format("{}/{}", string_at(*kind, "apiVersion"), string_at(*kind, "kind"));
    return {name_of(policy), objects_at(spec, "validations").size(), params, age_of(policy, now)};
}

constexpr Column kPolicyBindingColumns[] = {
    kNameColumn,
    {"PolicyName", "string", "", "The policy that it binds."},
    {"ParamRef", "string", "", "The parameters with which it does."},
    kAgeColumn,
};

json::array policy_binding_cells(const json::object& binding, WallTime now) {
    const json::object& spec = child(binding, "spec");
    const json::object* ref = object_at(spec, "paramRef");
    std::string params = "<unset>";
    if (ref != nullptr) {
        const std::string_view space = string_at(*ref, "namespace");
        const std::string_view name = string_at(*ref, "name");
        params = name.empty() ? apiserver::selector_text(object_at(*ref, "selector"))
                              : std::string(name);
        if (!space.empty()) params = fmt::format("{}/{}", space, params);
    }
    return {name_of(binding), string_at(spec, "policyName"), params, age_of(binding, now)};
}

constexpr Column kPriorityClassColumns[] = {
    kNameColumn,
    {"Value", "integer", "", "The priority of its pods."},
    {"Global-Default", "boolean", "", "Whether pods that name no class have it."},
    kAgeColumn,
    {"PreemptionPolicy", "string", "", "Whether its pods may drive out others.", 1},
};

json::array priority_class_cells(const json::object& priority, WallTime now) {
    return {name_of(priority), number_at(priority, "value"), bool_at(priority, "globalDefault"),
            age_of(priority, now), string_at(priority, "preemptionPolicy")};
}

constexpr Column kQuotaColumns[] = {
    kNameColumn,
    {"Request", "string", "", "What is used of what may be asked for."},
    {"Limit", "string", "", "What is used of what limits may add up to."},
    kAgeColumn,
};

json::array quota_cells(const json::object& quota, WallTime now) {
    const json::object& status = child(quota, "status");
    std::map<std::string_view, const json::value*> by_name;
    for (const auto& entry : child(status, "hard")) by_name.emplace(entry.key(), &entry.value());
    std::vector<std::string> requests;
    std::vector<std::string> limits;
    for (const auto& [name, hard] : by_name) {
        const json::value* used = child(status, "used").if_contains(name);
        (name.starts_with("limits.") ? limits : requests)
            .push_back(fmt::format("{}: {}/{}", name, or_else(apiserver::scalar_text(used), "0"),
                                   apiserver::scalar_text(hard)));
    }
    return {name_of(quota), joined(requests, ", "), joined(limits, ", "), age_of(quota, now)};
}

constexpr Column kRuntimeClassColumns[] = {
    kNameColumn,
    {"Handler", "string", "", "What runs its pods."},
    kAgeColumn,
};

json::array runtime_class_cells(const json::object& runtime, WallTime now) {
    return {name_of(runtime), string_at(runtime, "handler"), age_of(runtime, now)};
}

constexpr Printer kClusterPrinters[] = {
    {"nodes", kNodeColumns, node_cells},
    {"namespaces", kNamespaceColumns, namespace_cells},
    {"events", kEventColumns, event_cells},
    {"events.events.k8s.io", kEventColumns, event_cells},
    {"configmaps", kConfigMapColumns, config_map_cells},
    {"secrets", kSecretColumns, secret_cells},
    {"serviceaccounts", kNameAndAge, name_and_age},
    {"leases.coordination.k8s.io", kLeaseColumns, lease_cells},
    {"mutatingwebhookconfigurations.admissionregistration.k8s.io", kWebhookColumns, webhook_cells},
    {"validatingwebhookconfigurations.admissionregistration.k8s.io", kWebhookColumns,
     webhook_cells},
    {"validatingadmissionpolicies.admissionregistration.k8s.io", kAdmissionPolicyColumns,
     admission_policy_cells},
    {"validatingadmissionpolicybindings.admissionregistration.k8s.io", kPolicyBindingColumns,
     policy_binding_cells},
    {"apiservices.apiregistration.k8s.io", kApiServiceColumns, api_service_cells},
    {"priorityclasses.scheduling.k8s.io", kPriorityClassColumns, priority_class_cells},
    {"resourcequotas", kQuotaColumns, quota_cells},
    {"runtimeclasses.node.k8s.io", kRuntimeClassColumns, runtime_class_cells},
};

}  // namespace

std::span<const Printer> cluster_printers() { return kClusterPrinters; }

}  // namespace muster::apiserver_http
