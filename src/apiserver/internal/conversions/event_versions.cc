#include "apiserver/internal/conversions/event_versions.h"

#include <algorithm>
#include <string>
#include <vector>

#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {

struct Renamed {
    std::string_view core;  ///< in v1, which is stored
    std::string_view now;   ///< in events.k8s.io/v1
};
constexpr Renamed kRenamed[] = {{"involvedObject", "regarding"},
                                {"message", "note"},
                                {"source", "deprecatedSource"},
                                {"firstTimestamp", "deprecatedFirstTimestamp"},
                                {"lastTimestamp", "deprecatedLastTimestamp"},
                                {"count", "deprecatedCount"},
                                {"reportingComponent", "reportingController"}};

constexpr std::string_view kCoreApi = "v1";

/// Which names are the result.
enum class Names { kCore, kNew };

std::string_view renamed(std::string_view name, Names to) {
    for (const Renamed& field : kRenamed) {
        if (to == Names::kCore && name == field.now) return field.core;
        if (to == Names::kNew && name == field.core) return field.now;
    }
    return name;
}

void rename_fields(json::object& event, Names to) {
    for (const Renamed& field : kRenamed) {
        const auto [from, into] =
            to == Names::kNew ? std::pair(field.core, field.now) : std::pair(field.now, field.core);
        json::value* found = event.if_contains(from);
        if (found == nullptr) continue;
        json::value moved = std::move(*found);
        event.erase(from);
        event.insert_or_assign(into, std::move(moved));
    }
}

/// FieldsV1 has its keys ordered by their bytes.
void rename_owned(json::object& fields, Names to) {
    constexpr std::string_view kField = "f:";
    std::vector<std::pair<std::string, json::value>> entries;
    for (auto& entry : fields) {
        const std::string_view key = entry.key();
        std::string name(key);
        if (key.starts_with(kField))
            name = std::string(kField) + std::string(renamed(key.substr(kField.size()), to));
        entries.emplace_back(std::move(name), std::move(entry.value()));
    }
    std::ranges::sort(entries, {}, &std::pair<std::string, json::value>::first);
    fields.clear();
    for (auto& [key, value] : entries) fields.emplace(key, std::move(value));
}

/// In the entries of managedFields that were made through one version.
void rename_owned_through(json::object& event, std::string_view api_version, Names to) {
    json::object* meta = object_at(event, "metadata");
    json::array* entries = meta == nullptr ? nullptr : array_at(*meta, "managedFields");
    if (entries == nullptr) return;
    for (json::value& entry : *entries) {
        json::object* owner = entry.if_object();
        if (owner == nullptr || string_at(*owner, "apiVersion") != api_version) continue;
        if (json::object* fields = object_at(*owner, "fieldsV1")) rename_owned(*fields, to);
    }
}

void erase_if_empty(json::object& event, std::string_view key) {
    const json::value* text = event.if_contains(key);
    if (text != nullptr && text->is_string() && text->get_string().empty()) event.erase(key);
}

void show_in_events_api(json::object& event) {
    event["apiVersion"] = kEventsApi;
    rename_fields(event, Names::kNew);
    erase_if_empty(event, "reportingController");
    erase_if_empty(event, "reportingInstance");
    complete_new_event(event);
}

void store_from_events_api(json::object& event) {
    rename_owned_through(event, kCoreApi, Names::kCore);
    name_as_core_event(event);
}

std::string stored_field(std::string_view path) {
    const std::size_t end = std::min(path.find('.'), path.size());
    return std::string(renamed(path.substr(0, end), Names::kCore)) + std::string(path.substr(end));
}

}  // namespace

const VersionConversion kCoreEventConversion{
    .align_owners =
        [](json::object& event) { rename_owned_through(event, kEventsApi, Names::kCore); },
    .store = [](json::object& event) { rename_owned_through(event, kEventsApi, Names::kNew); },
    // A selector means the component, not the object that contains it.
    .stored_field = [](std::string_view path) -> std::string {
        return path == "source" ? "source.component" : std::string(path);
    },
};

const VersionConversion kEventsApiConversion{
    .show = show_in_events_api,
    .align_owners = [](json::object& event) { rename_owned_through(event, kCoreApi, Names::kNew); },
    .store = store_from_events_api,
    .stored_field = stored_field,
};

void complete_core_event(json::object& event) {
    ensure_object(event, "involvedObject");
    ensure_object(event, "source");
    for (const char* time : {"firstTimestamp", "lastTimestamp", "eventTime"})
        event.emplace(time, nullptr);
    set_default(event, "reportingComponent", json::value(""));
    set_default(event, "reportingInstance", json::value(""));
}

void complete_new_event(json::object& event) {
    ensure_object(event, "regarding");
    ensure_object(event, "deprecatedSource");
    for (const char* time : {"eventTime", "deprecatedFirstTimestamp", "deprecatedLastTimestamp"})
        event.emplace(time, nullptr);
}

void name_as_core_event(json::object& event) {
    event["apiVersion"] = kCoreApi;
    rename_fields(event, Names::kCore);
    complete_core_event(event);
}

}  // namespace muster::apiserver
