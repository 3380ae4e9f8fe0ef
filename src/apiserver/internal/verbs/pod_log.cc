#include "apiserver/internal/verbs/pod_log.h"

#include <algorithm>

#include "apiserver/objects/field_errors.h"
#include "apiserver/requests/pod_containers.h"
#include "apiserver/requests/request_options.h"
#include "base/parse_number.h"
#include "kube/values/time.h"

namespace muster::apiserver {

namespace {

std::optional<std::int64_t> read_number(const kube::Request& request, std::string_view key,
                                        std::int64_t least, FieldErrors& field_errors) {
    const std::string text(request.query_value(key));
    if (text.empty()) return std::nullopt;
    const auto number = parse_number<std::int64_t>(text);
    if (!number) {
        field_errors.push_back(
            invalid_value(std::string(key), json::value(text), "must be an integer"));
        return std::nullopt;
    }
    if (*number < least)
        field_errors.push_back(invalid_value(
            std::string(key), json::value(*number),
            least == 0 ? "must be greater than or equal to 0" : "must be greater than 0"));
    return number;
}

/// Rounded up; at least one. In whole seconds: nanoseconds can't count those between any two times.
std::int64_t seconds_between(WallTime from, WallTime to) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(to) -
                         std::chrono::floor<std::chrono::seconds>(from);
    return std::max<std::int64_t>(1, seconds.count());
}

}  // namespace

StatusResult<kube::LogOptions> log_options(const kube::Request& request, const json::object& pod,
                                           WallTime now) {
    kube::LogOptions options;
    options.follow = query_flag(request, "follow");
    options.previous = query_flag(request, "previous");
    options.timestamps = query_flag(request, "timestamps");
    FieldErrors field_errors;
    options.tail_lines = read_number(request, "tailLines", 0, field_errors);
    options.limit_bytes = read_number(request, "limitBytes", 1, field_errors);
    options.since_seconds = read_number(request, "sinceSeconds", 1, field_errors);
    if (const std::string_view since = request.query_value("sinceTime"); !since.empty()) {
        const auto time = kube::parse_time(since);
        if (options.since_seconds)
            field_errors.push_back(forbidden_field(
                "sinceTime", "at most one of `sinceTime` or `sinceSeconds` may be specified"));
        else if (!time)
            field_errors.push_back(
                invalid_value("sinceTime", json::value(since), "must be an RFC 3339 time"));
        else
            options.since_seconds = seconds_between(*time, now);
    }
    if (!field_errors.empty()) return invalid("PodLogOptions", "", "", std::move(field_errors));
    TRY(options.container, choose_container(std::string(request.query_value("container")), pod));
    return options;
}

}  // namespace muster::apiserver
