#include "apiserver/internal/pod_validation/value_checks.h"
#include "apiserver/internal/strategies/strategies.h"
#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {

void set_protocol(json::object& port) { set_default(port, "protocol", json::value("TCP")); }

void set_endpoints_defaults(json::object& endpoints) {
    for_each_object(endpoints, "subsets",
                    [](json::object& subset) { for_each_object(subset, "ports", set_protocol); });
}

void check_protocols(const json::object& parent, const std::string& field,
                     FieldErrors& field_errors) {
    const auto ports = objects_at(parent, "ports");
    for (std::size_t i = 0; i < ports.size(); ++i)
        check_choice(*ports[i], "protocol", {"SCTP", "TCP", "UDP"}, fmt::format("{}[{}]", field, i),
                     field_errors);
}

void set_endpoint_slice_defaults(json::object& slice) {
    // Go writes the list even if it is empty.
    slice.emplace("endpoints", nullptr);
    for_each_object(slice, "ports", [](json::object& port) {
        set_default(port, "name", json::value(""));
        set_protocol(port);
    });
}

void validate_endpoint_slice(const json::object& slice, FieldErrors& field_errors) {
    const std::string_view type = string_at(slice, "addressType");
    if (type.empty())
        field_errors.push_back(required("addressType"));
    else if (type != "IPv4" && type != "IPv6" && type != "FQDN")
        field_errors.push_back(not_supported("addressType", type, {"FQDN", "IPv4", "IPv6"}));
    check_protocols(slice, "ports", field_errors);
}

void validate_endpoint_slice_update(const json::object& next, const json::object& current,
                                    FieldErrors& field_errors) {
    if (string_at(next, "addressType") != string_at(current, "addressType"))
        field_errors.push_back(invalid_value(
            "addressType", json::value(string_at(next, "addressType")), "field is immutable"));
}

void set_policy_defaults(json::object& policy) {
    json::object& spec = ensure_object(policy, "spec");
    ensure_object(spec, "podSelector");
    for (const char* rules : {"ingress", "egress"})
        for_each_object(spec, rules,
                        [](json::object& rule) { for_each_object(rule, "ports", set_protocol); });
    if (spec.contains("policyTypes")) return;
    json::array types{"Ingress"};
    if (const json::array* egress = array_at(spec, "egress"); egress != nullptr && !egress->empty())
        types.emplace_back("Egress");
    spec["policyTypes"] = std::move(types);
}

void validate_policy(const json::object& policy, FieldErrors& field_errors) {
    std::size_t i = 0;
    for (const std::string& type : strings_at(child(policy, "spec"), "policyTypes")) {
        if (type != "Ingress" && type != "Egress")
            field_errors.push_back(
                not_supported(fmt::format("spec.policyTypes[{}]", i), type, {"Egress", "Ingress"}));
        ++i;
    }
    for (const char* key : {"ingress", "egress"}) {
        const auto rules = objects_at(child(policy, "spec"), key);
        for (std::size_t rule = 0; rule < rules.size(); ++rule)
            check_protocols(*rules[rule], fmt::format("spec.{}[{}].ports", key, rule),
                            field_errors);
    }
}

void check_backend(const json::object& backend, const std::string& in, FieldErrors& field_errors) {
    const json::object* service = object_at(backend, "service");
    const json::object* resource = object_at(backend, "resource");
    if (service == nullptr && resource == nullptr)
        field_errors.push_back(required(in, "port name or number is required"));
    if (service != nullptr && resource != nullptr)
        field_errors.push_back(invalid_value(in, json::value(backend),
                                             "cannot set both resource and service backends"));
    if (service == nullptr) return;
    if (string_at(*service, "name").empty()) field_errors.push_back(required(in + ".service.name"));
    const json::object& port = child(*service, "port");
    if (string_at(port, "name").empty() && int_at(port, "number").value_or(0) == 0)
        field_errors.push_back(required(in + ".service.port", "port name or number is required"));
}

void check_path(const json::object& path, const std::string& in, FieldErrors& field_errors) {
    const std::string_view type = string_at(path, "pathType");
    const std::string_view text = string_at(path, "path");
    if (type.empty())
        field_errors.push_back(required(in + ".pathType", "pathType must be specified"));
    else if (type != "Exact" && type != "Prefix" && type != "ImplementationSpecific")
        field_errors.push_back(
            not_supported(in + ".pathType", type, {"Exact", "ImplementationSpecific", "Prefix"}));
    const bool optional = type == "ImplementationSpecific" && text.empty();
    if (!type.empty() && !optional && !text.starts_with('/'))
        field_errors.push_back(
            invalid_value(in + ".path", json::value(text), "must be an absolute path"));
    check_backend(child(path, "backend"), in + ".backend", field_errors);
}

void validate_ingress(const json::object& ingress, FieldErrors& field_errors) {
    const json::object& spec = child(ingress, "spec");
    const json::object* backend = object_at(spec, "defaultBackend");
    if (backend != nullptr) check_backend(*backend, "spec.defaultBackend", field_errors);
    const json::array* rules = array_at(spec, "rules");
    if ((rules == nullptr || rules->empty()) && backend == nullptr)
        field_errors.push_back(invalid_value(
            "spec", json::value(spec), "either `defaultBackend` or `rules` must be specified"));
    for (std::size_t r = 0; rules != nullptr && r < rules->size(); ++r) {
        const json::object* rule = (*rules)[r].if_object();
        const json::array* paths =
            rule == nullptr ? nullptr : array_at(child(*rule, "http"), "paths");
        for (std::size_t p = 0; paths != nullptr && p < paths->size(); ++p)
            if (const json::object* path = (*paths)[p].if_object())
                check_path(*path, fmt::format("spec.rules[{}].http.paths[{}]", r, p), field_errors);
    }
}

void validate_ingress_class_update(const json::object& next, const json::object& current,
                                   FieldErrors& field_errors) {
    const std::string_view controller = string_at(child(next, "spec"), "controller");
    if (controller != string_at(child(current, "spec"), "controller"))
        field_errors.push_back(
            invalid_value("spec.controller", json::value(controller), "field is immutable"));
}

}  // namespace

Strategy endpoints_strategy() { return {.apply_defaults = set_endpoints_defaults}; }

Strategy endpoint_slice_strategy() {
    return {.apply_defaults = set_endpoint_slice_defaults,
            .validate = validate_endpoint_slice,
            .validate_update = validate_endpoint_slice_update};
}

Strategy network_policy_strategy() {
    return {.apply_defaults = set_policy_defaults, .validate = validate_policy};
}

Strategy ingress_strategy() {
    return {
        .prepare_create = [](json::object& ingress,
                             WallTime) { ingress["status"] = {{"loadBalancer", json::object()}}; },
        .validate = validate_ingress};
}

Strategy ingress_class_strategy() {
    return {
        .apply_defaults =
            [](json::object& ingress_class) {
                json::object* spec = object_at(ingress_class, "spec");
                if (json::object* with = spec == nullptr ? nullptr : object_at(*spec, "parameters"))
                    set_default(*with, "scope", json::value("Cluster"));
            },
        .validate_update = validate_ingress_class_update};
}

}  // namespace muster::apiserver
