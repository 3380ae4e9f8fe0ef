#include "cli/internal/record/run_objects.h"

#include <fmt/format.h>

#include <boost/json/serialize.hpp>
#include <set>

#include "cli/internal/run/submission.h"
#include "jobs/kind.h"
#include "kube/objects/resource_type.h"
#include "kube/values/json_access.h"
#include "kube/values/read_json.h"

namespace muster::cli {

namespace {

std::string about_uid(const json::value& event) {
    const json::object& root = event.get_object();
    const json::object& subject = kube::child(root, "involvedObject");
    return std::string(
        kube::string_at(subject.empty() ? kube::child(root, "regarding") : subject, "uid"));
}

/// What has gone meanwhile is no error.
template <class T>
bool is_gone(const Result<T>& answer) {
    return !answer && answer.error().code() == Code::kNotFound;
}

void add_array(std::string& text, std::string_view key,
               const std::vector<kube::ObjectPtr>& objects) {
    text += fmt::format("\"{}\":[", key);
    for (std::size_t i = 0; i < objects.size(); ++i) {
        if (i > 0) text += ",\n";
        text += json::serialize(*objects[i]);
    }
    text += "]";
}

std::vector<kube::ObjectPtr> objects_in(const json::object& root, std::string_view key) {
    std::vector<kube::ObjectPtr> objects;
    for (const json::object* object : kube::objects_at(root, key))
        objects.push_back(std::make_shared<const json::value>(*object));
    return objects;
}

}  // namespace

std::vector<kube::ObjectPtr> RunObjects::pods_of(const json::value& job) const {
    std::vector<kube::ObjectPtr> own;
    const std::string_view ns = kube::namespace_of(job.get_object());
    const std::string_view name = kube::name_of(job.get_object());
    for (const kube::ObjectPtr& pod : pods) {
        const json::object& labels = kube::child(kube::metadata_of(*pod), "labels");
        if (kube::namespace_of(pod->get_object()) == ns &&
            kube::string_at(labels, jobs::labels::kJobName) == name)
            own.push_back(pod);
    }
    return own;
}

std::vector<RunPlace> places_of(const std::vector<manifest::CheckedObject>& objects) {
    std::vector<RunPlace> places;
    for (const manifest::CheckedObject& object : objects)
        if (is_workload(object)) places.push_back({object.type, object.namespace_, object.name});
    return places;
}

Task<Result<RunObjects>> collect_run_objects(kube::Client& client, std::vector<RunPlace> places) {
    RunObjects objects;
    std::set<std::string> uids;
    std::set<std::string> namespaces;
    for (const RunPlace& place : places) {
        namespaces.insert(place.namespace_);
        auto object = co_await client.get(place.type, place.namespace_, place.name);
        if (is_gone(object)) continue;
        if (!object) co_return std::move(object.error());
        const bool is_pod = place.type == kube::types::kPods;
        (is_pod ? objects.pods : objects.jobs).push_back(*object);
        uids.insert(std::string(kube::uid_of((*object)->get_object())));
        if (is_pod) continue;
        kube::ListOptions options;
        options.namespace_ = place.namespace_;
        options.label_selector = fmt::format("{}={}", jobs::labels::kJobName, place.name);
        CO_TRY(const kube::ListResult pods, co_await client.list(kube::types::kPods, options));
        for (const kube::ObjectPtr& pod : pods.items) {
            uids.insert(std::string(kube::uid_of(pod->get_object())));
            objects.pods.push_back(pod);
        }
    }
    for (const std::string& ns : namespaces) {
        kube::ListOptions options;
        options.namespace_ = ns;
        auto events = co_await client.list(kube::types::kEvents, options);
        // A user may see jobs and not events.
        if (!events && events.error().code() == Code::kForbidden) continue;
        if (!events) co_return std::move(events.error());
        for (const kube::ObjectPtr& event : events->items)
            if (uids.contains(about_uid(*event))) objects.events.push_back(event);
    }
    co_return objects;
}

std::string to_text(const RunObjects& objects) {
    std::string text = "{";
    add_array(text, "jobs", objects.jobs);
    text += ",\n";
    add_array(text, "pods", objects.pods);
    text += ",\n";
    add_array(text, "events", objects.events);
    return text + "}\n";
}

Result<RunObjects> run_objects(std::string_view text) {
    const std::optional<json::value> value = kube::read_json(text);
    if (!value || !value->is_object()) return Error(Code::kInvalid, "it has no objects of a run");
    const json::object& root = value->get_object();
    return RunObjects{.jobs = objects_in(root, "jobs"),
                      .pods = objects_in(root, "pods"),
                      .events = objects_in(root, "events")};
}

}  // namespace muster::cli
