#include "apiserver/internal/pod_validation/handlers.h"

#include <algorithm>

#include "apiserver/internal/pod_validation/value_checks.h"
#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {

constexpr std::string_view kHeaderMessage =
    "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', "
    "regex used for validation is '[-A-Za-z0-9]+')";

bool is_header_name(std::string_view name) {
    return !name.empty() && std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-';
    });
}

void check_http_get(const json::object& http, const std::string& field, FieldErrors& field_errors) {
    if (string_at(http, "path").empty()) field_errors.push_back(required(field + ".path"));
    check_port_or_name(http, field, field_errors);
    check_choice(http, "scheme", {"HTTP", "HTTPS"}, field, field_errors);
    for (const json::object* header : objects_at(http, "httpHeaders"))
        if (const std::string_view name = string_at(*header, "name"); !is_header_name(name))
            field_errors.push_back(
                invalid_value(field + ".httpHeaders", json::value(name), kHeaderMessage));
}

/// The one thing that a probe or a hook does.
void check_handler(const json::object& handler, std::optional<std::int64_t> grace,
                   const std::string& field, FieldErrors& field_errors) {
    int handlers = 0;
    const auto take = [&](const char* key) -> const json::object* {
        const json::object* found = object_at(handler, key);
        if (found == nullptr || ++handlers == 1) return found;
        field_errors.push_back(forbidden_field(fmt::format("{}.{}", field, key),
                                               "may not specify more than 1 handler type"));
        return nullptr;
    };
    if (const json::object* exec = take("exec"))
        if (const json::array* command = array_at(*exec, "command");
            command == nullptr || command->empty())
            field_errors.push_back(required(field + ".exec.command"));
    if (const json::object* http = take("httpGet"))
        check_http_get(*http, field + ".httpGet", field_errors);
    if (const json::object* tcp = take("tcpSocket"))
        check_port_or_name(*tcp, field + ".tcpSocket", field_errors);
    if (const json::object* grpc = take("grpc"))
        check_port(int_at(*grpc, "port").value_or(0), field + ".grpc.port", field_errors);
    if (const json::object* sleep = take("sleep")) {
        const std::int64_t seconds = int_at(*sleep, "seconds").value_or(0);
        if (grace && (seconds < 0 || seconds > *grace))
            field_errors.push_back(invalid_value(
                field + ".sleep", json::value(seconds),
                fmt::format("must be non-negative and less than terminationGracePeriodSeconds ({})",
                            *grace)));
    }
    if (handlers == 0) field_errors.push_back(required(field, "must specify a handler type"));
}

void check_probe(const json::object& probe, bool once, bool has_grace, const std::string& field,
                 FieldErrors& field_errors) {
    check_handler(probe, {}, field, field_errors);
    for (const char* key : {"initialDelaySeconds", "timeoutSeconds", "periodSeconds",
                            "successThreshold", "failureThreshold"})
        check_at_least_zero(probe, key, field, field_errors);
    if (const auto successes = int_at(probe, "successThreshold");
        once && successes && *successes != 1)
        field_errors.push_back(
            invalid_value(field + ".successThreshold", json::value(*successes), "must be 1"));
    const auto grace = int_at(probe, "terminationGracePeriodSeconds");
    if (!grace) return;
    const auto refuse = [&](std::string_view why) {
        field_errors.push_back(
            invalid_value(field + ".terminationGracePeriodSeconds", json::value(*grace), why));
    };
    if (*grace <= 0) refuse("must be greater than 0");
    if (!has_grace) refuse("must not be set for readinessProbes");
}

}  // namespace

void check_probes(const json::object& container, const std::string& field,
                  FieldErrors& field_errors) {
    for (const char* key : {"livenessProbe", "readinessProbe", "startupProbe"})
        if (const json::object* probe = object_at(container, key)) {
            const bool readiness = std::string_view(key) == "readinessProbe";
            check_probe(*probe, !readiness, !readiness, fmt::format("{}.{}", field, key),
                        field_errors);
        }
}

void check_lifecycle(const json::object& container, std::optional<std::int64_t> grace,
                     const std::string& field, FieldErrors& field_errors) {
    const json::object* lifecycle = object_at(container, "lifecycle");
    if (lifecycle == nullptr) return;
    for (const char* key : {"postStart", "preStop"})
        if (const json::object* hook = object_at(*lifecycle, key))
            check_handler(*hook, grace, fmt::format("{}.lifecycle.{}", field, key), field_errors);
}

}  // namespace muster::apiserver
