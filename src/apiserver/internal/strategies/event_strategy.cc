#include "apiserver/internal/conversions/event_versions.h"
#include "apiserver/internal/strategies/strategies.h"
#include "apiserver/objects/json_access.h"
#include "kube/values/document.h"
#include "kube/values/equality.h"
#include "kube/values/name_syntax.h"

namespace muster::apiserver {

namespace {

constexpr std::size_t kMaxWord = 128;
constexpr std::size_t kMaxMessage = 1024;

bool is_set(const json::object& event, std::string_view key) {
    const json::value* value = event.if_contains(key);
    return value != nullptr && !value->is_null();
}

void check_text(const json::object& event, const char* key, std::size_t most, bool needed,
                FieldErrors& field_errors) {
    const std::string_view text = string_at(event, key);
    if (needed && text.empty()) field_errors.push_back(required(key));
    if (text.size() > most)
        field_errors.push_back(invalid_value(key, json::value(""),
                                             fmt::format("can have at most {} characters", most)));
}

/// For an event with the names of v1, in which a real server checks those of both versions.
/// `reporter`: the name of the reporting component's field in the request's version.
void check_event(const json::object& event, const char* reporter, FieldErrors& field_errors) {
    const json::object* about = object_at(event, "involvedObject");
    const std::string_view about_namespace = about == nullptr ? "" : string_at(*about, "namespace");
    const std::string_view own = namespace_of(event);
    const bool new_style = is_set(event, "eventTime");
    // Events about cluster-scoped objects live in "default".
    const bool elsewhere = about_namespace.empty() ? own != "default" && !own.empty() &&
                                                         !(own == "kube-system" && new_style)
                                                   : !new_style && about_namespace != own;
    if (elsewhere)
        field_errors.push_back(invalid_value("involvedObject.namespace",
                                             json::value(about_namespace),
                                             "does not match event.namespace"));
    if (!new_style) return;
    const std::string_view name = string_at(event, "reportingComponent");
    if (name.empty()) field_errors.push_back(required(reporter));
    if (const std::string problem = kube::label_key_problem(name); !problem.empty())
        field_errors.push_back(invalid_value(reporter, json::value(name), problem));
    check_text(event, "reportingInstance", kMaxWord, true, field_errors);
    check_text(event, "action", kMaxWord, true, field_errors);
    check_text(event, "reason", kMaxWord, true, field_errors);
    check_text(event, "message", kMaxMessage, false, field_errors);
}

void check_series(const json::object& event, FieldErrors& field_errors) {
    const json::object* series = object_at(event, "series");
    if (series == nullptr) return;
    if (int_at(*series, "count").value_or(0) < 2)
        field_errors.push_back(
            invalid_value("series.count", json::value(""), "should be at least 2"));
    if (!is_set(*series, "lastObservedTime"))
        field_errors.push_back(required("series.lastObservedTime"));
}

void validate_core_event(const json::object& event, FieldErrors& field_errors) {
    check_event(event, "reportingComponent", field_errors);
}

json::object as_core_event(const json::object& event) {
    json::object named = kube::copy_of(event);
    name_as_core_event(named);
    return named;
}

void validate_new_event(const json::object& event, FieldErrors& field_errors) {
    check_event(as_core_event(event), "reportingController", field_errors);
}

/// The fields that the newer API keeps for events of older clients can't be written through it.
void validate_new_event_creation(const json::object& event, FieldErrors& field_errors) {
    check_series(event, field_errors);
    if (!is_set(event, "eventTime")) field_errors.push_back(required("eventTime"));
    const std::string_view type = string_at(event, "type");
    if (type != "Normal" && type != "Warning")
        field_errors.push_back(
            invalid_value("type", json::value(""), fmt::format("has invalid value: {}", type)));
    const json::object named = as_core_event(event);
    const auto unset = [&](const char* key) {
        field_errors.push_back(invalid_value(key, json::value(""), "needs to be unset"));
    };
    if (is_set(named, "firstTimestamp")) unset("firstTimestamp");
    if (is_set(named, "lastTimestamp")) unset("lastTimestamp");
    if (int_at(named, "count").value_or(0) != 0) unset("count");
    const json::object& source = named.at("source").get_object();
    if (!string_at(source, "component").empty() || !string_at(source, "host").empty())
        unset("source");
}

/// Only its series may change.
void validate_new_event_update(const json::object& next, const json::object& current,
                               FieldErrors& field_errors) {
    const json::object after = as_core_event(next);
    const json::object before = as_core_event(current);
    const auto differs = [&](std::string_view key) {
        const json::value* now = after.if_contains(key);
        const json::value* then = before.if_contains(key);
        if (now == nullptr || then == nullptr) return now != then;
        return !kube::equal(*now, *then);
    };
    if (differs("series")) check_series(after, field_errors);
    for (const char* key : {"involvedObject", "reason", "message", "source", "firstTimestamp",
                            "lastTimestamp", "count", "type", "eventTime", "action", "related",
                            "reportingComponent", "reportingInstance"}) {
        if (!differs(key)) continue;
        const std::string_view name = key;
        const json::value* now = after.if_contains(name);
        field_errors.push_back(
            invalid_value(name == "reportingComponent" ? "reportingController" : std::string(name),
                          now == nullptr ? json::value() : *now, "field is immutable"));
    }
}

}  // namespace

// Fields that are always written have no owner, so they are added after ownership is decided.

Strategy core_event_strategy() {
    return {.prepare_create = [](json::object& event, WallTime) { complete_core_event(event); },
            .prepare_update = [](json::object& next,
                                 const json::object&) { complete_core_event(next); },
            .validate = validate_core_event};
}

Strategy new_event_strategy() {
    return {
        .prepare_create = [](json::object& event, WallTime) { complete_new_event(event); },
        .prepare_update = [](json::object& next, const json::object&) { complete_new_event(next); },
        .validate = validate_new_event,
        .validate_create = validate_new_event_creation,
        .validate_update = validate_new_event_update};
}

}  // namespace muster::apiserver
