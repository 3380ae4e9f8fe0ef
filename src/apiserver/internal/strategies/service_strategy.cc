#include "apiserver/internal/pod_validation/value_checks.h"
#include "apiserver/internal/strategies/strategies.h"
#include "apiserver/internal/writing/metadata_rules.h"
#include "apiserver/objects/json_access.h"
#include "kube/values/name_syntax.h"

namespace muster::apiserver {

namespace {

void set_service_defaults(json::object& object) {
    json::object& spec = ensure_object(object, "spec");
    set_default(spec, "type", json::value("ClusterIP"));
    set_default(spec, "sessionAffinity", json::value("None"));
    if (string_at(spec, "type") != "ExternalName") {
        set_default(spec, "internalTrafficPolicy", json::value("Cluster"));
    }
    json::array* ports = array_at(spec, "ports");
    if (ports == nullptr) return;
    for (json::value& entry : *ports) {
        json::object* port = entry.if_object();
        if (port == nullptr) continue;
        set_default(*port, "protocol", json::value("TCP"));
        if (const json::value* number = port->if_contains("port")) {
            const json::value own = *number;
            json::value& target = (*port)["targetPort"];
            // Go has no other word for "not set" here.
            if (target.is_null() || target == 0 || target == "") target = own;
        }
    }
}

/// The API server chooses them, so the author of a service does not own them.
void choose_families(json::object& spec) {
    if (string_at(spec, "type") == "ExternalName") return;
    set_default(spec, "ipFamilies", json::array{"IPv4"});
    set_default(spec, "ipFamilyPolicy", json::value("SingleStack"));
}

void prepare_service(json::object& object, WallTime) {
    choose_families(ensure_object(object, "spec"));
    object["status"] = {{"loadBalancer", json::object()}};
}

/// Fields that a client may leave out of a PUT although the server has set them.
void keep_address(json::object& next, const json::object& current) {
    json::object& spec = ensure_object(next, "spec");
    const json::object* stored = object_at(current, "spec");
    if (stored == nullptr || string_at(spec, "type") == "ExternalName") return;
    for (const char* key : {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"})
        if (const json::value* value = stored->if_contains(key))
            if (!spec.contains(key) || *spec.if_contains(key) == "") spec[key] = *value;
    choose_families(spec);
}

void check_port(const json::object& port, const std::string& field, bool named,
                std::set<std::string>& names, std::set<std::string>& numbers,
                FieldErrors& field_errors) {
    const std::int64_t number = int_at(port, "port").value_or(0);
    if (number < 1 || number > 65535)
        field_errors.push_back(invalid_value(field + ".port", json::value(number),
                                             "must be between 1 and 65535, inclusive"));
    if (const auto target = int_at(port, "targetPort"); target && (*target < 1 || *target > 65535))
        field_errors.push_back(invalid_value(field + ".targetPort", json::value(*target),
                                             "must be between 1 and 65535, inclusive"));
    const std::string name(string_at(port, "name"));
    if (name.empty()) {
        if (named) field_errors.push_back(required(field + ".name"));
    } else if (!kube::is_dns1123_label(name)) {
        field_errors.push_back(invalid_value(field + ".name", json::value(name), kDnsLabelMessage));
    } else if (!names.insert(name).second) {
        field_errors.push_back(duplicate(field + ".name", json::value(name)));
    }
    const std::string_view protocol = string_at(port, "protocol");
    if (protocol != "TCP" && protocol != "UDP" && protocol != "SCTP")
        field_errors.push_back(
            not_supported(field + ".protocol", protocol, {"SCTP", "TCP", "UDP"}));
    if (!numbers.insert(fmt::format("{}/{}", number, protocol)).second)
        field_errors.push_back(
            duplicate(field, json::object{{"port", number}, {"protocol", protocol}}));
}

void validate_service(const json::object& object, FieldErrors& field_errors) {
    const json::object* spec = object_at(object, "spec");
    if (spec == nullptr) return;
    const std::string_view type = string_at(*spec, "type");
    if (type != "ClusterIP" && type != "NodePort" && type != "LoadBalancer" &&
        type != "ExternalName")
        field_errors.push_back(not_supported(
            "spec.type", type, {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"}));
    const std::string_view affinity = string_at(*spec, "sessionAffinity");
    if (affinity != "None" && affinity != "ClientIP")
        field_errors.push_back(
            not_supported("spec.sessionAffinity", affinity, {"ClientIP", "None"}));
    check_choice(*spec, "internalTrafficPolicy", {"Cluster", "Local"}, "spec", field_errors);
    check_choice(*spec, "ipFamilyPolicy", {"PreferDualStack", "RequireDualStack", "SingleStack"},
                 "spec", field_errors);
    const bool headless = string_at(*spec, "clusterIP") == "None";
    const json::array* ports = array_at(*spec, "ports");
    if ((ports == nullptr || ports->empty()) && !headless && type != "ExternalName")
        field_errors.push_back(required("spec.ports"));
    if (const json::object* selector = object_at(*spec, "selector"))
        check_labels(*selector, "spec.selector", field_errors);
    if (ports == nullptr) return;
    std::set<std::string> names;
    std::set<std::string> numbers;
    for (std::size_t i = 0; i < ports->size(); ++i)
        if (const json::object* port = (*ports)[i].if_object())
            check_port(*port, fmt::format("spec.ports[{}]", i), ports->size() > 1, names, numbers,
                       field_errors);
}

void validate_service_update(const json::object& next, const json::object& current,
                             FieldErrors& field_errors) {
    const json::object* before = object_at(current, "spec");
    const json::object* after = object_at(next, "spec");
    if (before == nullptr || after == nullptr) return;
    const std::string_view address = string_at(*before, "clusterIP");
    if (!address.empty() && string_at(*after, "type") != "ExternalName" &&
        string_at(*after, "clusterIP") != address)
        field_errors.push_back(invalid_value("spec.clusterIPs[0]",
                                             json::value(string_at(*after, "clusterIP")),
                                             "may not change once set"));
}

}  // namespace

Strategy service_strategy() {
    return {.apply_defaults = set_service_defaults,
            .prepare_create = prepare_service,
            .prepare_update = keep_address,
            .validate = validate_service,
            .validate_update = validate_service_update};
}

}  // namespace muster::apiserver
