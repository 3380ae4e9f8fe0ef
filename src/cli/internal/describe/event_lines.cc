#include "cli/internal/describe/event_lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/lower_case.h"
#include "kube/objects/age.h"
#include "kube/values/json_access.h"

namespace muster::cli {

namespace {

using kube::string_at;

const json::object& object_of(const json::value& event) {
    static const json::object kNone;
    const json::object* object = event.if_object();
    return object == nullptr ? kNone : *object;
}

/// The core API calls it involvedObject, events.k8s.io calls it regarding.
const json::object& subject_of(const json::object& event) {
    static const json::object kNone;
    for (const char* key : {"involvedObject", "regarding"})
        if (const json::object* subject = kube::object_at(event, key)) return *subject;
    return kNone;
}

/// How often it was seen, which each API stores in a different place.
std::int64_t count_of(const json::object& event) {
    if (const json::object* series = kube::object_at(event, "series"))
        if (const auto count = kube::int_at(*series, "count")) return *count;
    for (const char* key : {"count", "deprecatedCount"})
        if (const auto count = kube::int_at(event, key); count && *count > 0) return *count;
    return 1;
}

std::string age_words(const json::object& event, WallTime now) {
    const std::string age = kube::age_text(last_seen(event), now);
    const std::int64_t count = count_of(event);
    return count > 1 ? fmt::format("{} (x{})", age, count) : age;
}

}  // namespace

bool is_about(const json::value& event, const EventSubject& subject) {
    const json::object& about = subject_of(object_of(event));
    return lower_case(string_at(about, "kind")) == lower_case(subject.kind) &&
           string_at(about, "name") == subject.name &&
           (subject.uid.empty() || string_at(about, "uid") == subject.uid);
}

std::string last_seen(const json::value& value) {
    const json::object& event = object_of(value);
    if (const json::object* series = kube::object_at(event, "series"))
        if (const std::string_view at = string_at(*series, "lastObservedTime"); !at.empty())
            return std::string(at);
    for (const char* key : {"lastTimestamp", "deprecatedLastTimestamp", "eventTime"})
        if (const std::string_view at = string_at(event, key); !at.empty()) return std::string(at);
    return std::string(string_at(kube::metadata_of(event), "creationTimestamp"));
}

ObjectTable event_table(std::vector<kube::ObjectPtr> events, WallTime now, bool with_object) {
    std::ranges::sort(events, {}, [](const kube::ObjectPtr& event) {
        return std::pair(last_seen(*event), std::string(kube::name_of(object_of(*event))));
    });
    ObjectTable table;
    table.columns = {{"Last Seen", false}, {"Type", false}, {"Reason", false}};
    if (with_object) table.columns.push_back({"Object", false});
    table.columns.push_back({"Message", false});
    for (const kube::ObjectPtr& value : events) {
        const json::object& event = object_of(*value);
        const json::object& about = subject_of(event);
        const std::string_view message = string_at(event, "message");
        TableRow row;
        row.namespace_ = kube::namespace_of(event);
        row.name = kube::name_of(event);
        row.cells = {age_words(event, now), printable_cell(string_at(event, "type")),
                     printable_cell(string_at(event, "reason"))};
        if (with_object)
            row.cells.push_back(fmt::format("{}/{}", lower_case(string_at(about, "kind")),
                                            printable_cell(string_at(about, "name"))));
        row.cells.push_back(printable_cell(message.empty() ? string_at(event, "note") : message));
        table.rows.push_back(std::move(row));
    }
    return table;
}

}  // namespace muster::cli
