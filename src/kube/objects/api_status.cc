#include "kube/objects/api_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <chrono>

#include "kube/values/json_access.h"

namespace muster::kube {
namespace {

struct Row {
    std::string_view reason;
    int http;
    Code code;
};

// The first row of a code is used for writing, every row for reading.
constexpr std::array kTable{
    Row{"BadRequest", 400, Code::kBadRequest},
    Row{"Unauthorized", 401, Code::kUnauthorized},
    Row{"Forbidden", 403, Code::kForbidden},
    Row{"NotFound", 404, Code::kNotFound},
    Row{"MethodNotAllowed", 405, Code::kMethodNotAllowed},
    Row{"UnsupportedMediaType", 415, Code::kUnsupported},
    Row{"NotAcceptable", 406, Code::kUnsupported},
    Row{"Conflict", 409, Code::kConflict},
    Row{"AlreadyExists", 409, Code::kAlreadyExists},
    Row{"Expired", 410, Code::kGone},
    Row{"Gone", 410, Code::kGone},
    Row{"RequestEntityTooLarge", 413, Code::kTooLarge},
    Row{"Invalid", 422, Code::kInvalid},
    Row{"TooManyRequests", 429, Code::kTooManyRequests},
    Row{"InternalError", 500, Code::kInternal},
    Row{"ServiceUnavailable", 503, Code::kUnavailable},
    Row{"Timeout", 504, Code::kTimeout},
    Row{"ServerTimeout", 504, Code::kTimeout},
};

const Row& row_of(Code code) {
    if (code == Code::kCancelled) code = Code::kTimeout;
    const Row* row = std::find_if(kTable.begin(), kTable.end(),
                                  [code](const Row& candidate) { return candidate.code == code; });
    return *row;
}

Code code_of(std::string_view reason, int http) {
    for (const Row& row : kTable)
        if (row.reason == reason) return row.code;
    for (const Row& row : kTable)
        if (row.http == http) return row.code;
    if (http == 408 || http == 502) return Code::kTimeout;  // it may have had its effect
    return http >= 400 && http < 500 ? Code::kBadRequest : Code::kInternal;
}

void put(json::object& object, std::string_view key, std::string_view text) {
    if (!text.empty()) object.emplace(key, text);
}

const json::object* as_status(const json::value& body) {
    const json::object* object = body.if_object();
    return object != nullptr && string_at(*object, "kind") == "Status" ? object : nullptr;
}

std::vector<Cause> causes_of(const json::object& details) {
    std::vector<Cause> causes;
    const json::value* value = details.if_contains("causes");
    const json::array* items = value == nullptr ? nullptr : value->if_array();
    if (items == nullptr) return causes;
    for (const json::value& item : *items) {
        const json::object* cause = item.if_object();
        if (cause == nullptr) continue;
        causes.push_back({std::string(string_at(*cause, "reason")),
                          std::string(string_at(*cause, "message")),
                          std::string(string_at(*cause, "field"))});
    }
    return causes;
}

/// What a body that is not a Status says, short enough for one line of a log.
std::string plain_message(int http, const json::value& body) {
    constexpr std::size_t kLongest = 500;
    std::string text;
    if (const json::string* string = body.if_string())
        text.assign(string->data(), string->size());
    else if (!body.is_null())
        text = json::serialize(body);
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
    if (text.empty()) return fmt::format("the server answered HTTP {} without a reason", http);
    return fmt::format("the server answered HTTP {}: {}", http, text);
}

}  // namespace

int http_status(Code code) { return row_of(code).http; }

std::string_view status_reason(Code code) { return row_of(code).reason; }

json::value status_from_error(const Error& error, const StatusDetails& details) {
    json::object more;
    put(more, "name", details.name);
    put(more, "group", details.group);
    put(more, "kind", details.kind);
    put(more, "uid", details.uid);
    if (!error.causes().empty()) {
        json::array causes;
        for (const Cause& cause : error.causes()) {
            json::object item;
            put(item, "reason", cause.reason);
            put(item, "message", cause.message);
            put(item, "field", cause.field);
            causes.push_back(std::move(item));
        }
        more.emplace("causes", std::move(causes));
    }
    if (error.retry_after()) {
        const auto seconds = std::chrono::ceil<std::chrono::seconds>(*error.retry_after());
        more.emplace("retryAfterSeconds", std::max<std::int64_t>(seconds.count(), 1));
    }

    json::object status{{"kind", "Status"},           {"apiVersion", "v1"},
                        {"metadata", json::object{}}, {"status", "Failure"},
                        {"message", error.message()}, {"reason", status_reason(error.code())}};
    if (!more.empty()) status.emplace("details", std::move(more));
    status.emplace("code", http_status(error.code()));
    return status;
}

Error error_from_status(int http_code, const json::value& body) {
    const json::object* status = as_status(body);
    if (status == nullptr) return Error(code_of({}, http_code), plain_message(http_code, body));

    if (http_code == 0) http_code = static_cast<int>(int_at(*status, "code").value_or(0));
    std::string message(string_at(*status, "message"));
    if (message.empty())
        message = plain_message(http_code, json::string(string_at(*status, "reason")));
    Error error(code_of(string_at(*status, "reason"), http_code), std::move(message));
    if (const json::object* details = object_at(*status, "details")) {
        error.with_causes(causes_of(*details));
        // A day is more than any server means, and keeps the callers' arithmetic in range.
        const auto seconds =
            std::min<std::int64_t>(int_at(*details, "retryAfterSeconds").value_or(0), 86'400);
        if (seconds > 0) error.with_retry_after(std::chrono::seconds(seconds));
    }
    return error;
}

bool is_unanswered(const Error& error) {
    return error.code() == Code::kUnavailable || error.code() == Code::kTimeout;
}

bool is_away(const Error& error) {
    switch (error.code()) {
        case Code::kUnavailable:
        case Code::kTimeout:
        case Code::kTooManyRequests:
        case Code::kUnauthorized:
        case Code::kCancelled:
            return true;
        default:
            return false;
    }
}

}  // namespace muster::kube
