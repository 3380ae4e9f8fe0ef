#include "cli/internal/describe/description.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>

#include "cli/internal/describe/event_lines.h"
#include "cli/internal/objects/json_path_template.h"
#include "cli/internal/objects/object_table.h"
#include "cli/internal/run/views.h"
#include "jobs/kind.h"
#include "kube/objects/age.h"
#include "kube/values/base64.h"
#include "kube/values/json_access.h"
#include "kube/values/time.h"
#include "manifest/yaml/yaml_writer.h"

namespace muster::cli {

namespace {

using kube::child;
using kube::object_at;
using kube::string_at;

constexpr std::string_view kNone = "<none>";

/// The lines of one description: "Name:   value", and tables below a title.
class Page {
  public:
    void field(std::string_view name, std::string_view value) {
        fmt::format_to(std::back_inserter(text_), "{:<15} {}\n", fmt::format("{}:", name),
                       value.empty() ? kNone : value);
    }
    void field(std::string_view name, const json::object* values) {
        if (values == nullptr || values->empty()) return field(name, std::string_view());
        bool first = true;
        for (const auto& [key, value] : *values) {
            const std::string line =
                fmt::format("{}={}", std::string_view(key), printable_cell(plain_text(value)));
            if (std::exchange(first, false))
                field(name, line);
            else
                fmt::format_to(std::back_inserter(text_), "{:<15} {}\n", "", line);
        }
    }
    void table(std::string_view title, const ObjectTable& table) {
        if (table.rows.empty()) return field(title, std::string_view());
        fmt::format_to(std::back_inserter(text_), "{}:\n", title);
        indented(TableWriter({}).write(table));
    }
    void yaml(std::string_view title, const json::value& value) {
        fmt::format_to(std::back_inserter(text_), "{}:\n", title);
        indented(manifest::to_yaml(value));
    }
    std::string take() { return std::move(text_); }

  private:
    void indented(std::string_view lines) {
        while (!lines.empty()) {
            const std::size_t end = lines.find('\n');
            fmt::format_to(std::back_inserter(text_), "  {}\n", lines.substr(0, end));
            lines.remove_prefix(end == lines.npos ? lines.size() : end + 1);
        }
    }

    std::string text_;
};

ObjectTable table_of(std::initializer_list<const char*> columns) {
    ObjectTable table;
    for (const char* name : columns) table.columns.push_back({name, false});
    return table;
}

void add_row(ObjectTable& table, std::vector<std::string> cells) {
    TableRow row;
    for (std::string& cell : cells) row.cells.push_back(printable_cell(cell));
    table.rows.push_back(std::move(row));
}

void add_conditions(Page& page, const json::object& status, WallTime now) {
    ObjectTable table = table_of({"Type", "Status", "Age", "Reason", "Message"});
    if (const json::array* list = kube::array_at(status, "conditions"))
        for (const json::value& item : *list)
            if (const json::object* condition = item.if_object())
                add_row(table, {std::string(string_at(*condition, "type")),
                                std::string(string_at(*condition, "status")),
                                kube::age_text(string_at(*condition, "lastTransitionTime"), now),
                                std::string(string_at(*condition, "reason")),
                                std::string(string_at(*condition, "message"))});
    page.table("Conditions", table);
}

std::string state_words(const ContainerView& container) {
    if (container.running) return "running";
    if (container.terminated) return describe(*container.terminated);
    const std::string reason =
        container.waiting_reason.empty() ? "waits" : "waits: " + container.waiting_reason;
    return container.waiting_message.empty() ? reason : reason + ": " + container.waiting_message;
}

void describe_pod(Page& page, const json::object& pod, WallTime now) {
    const json::object& spec = child(pod, "spec");
    const json::object& status = child(pod, "status");
    page.field("Node", string_at(spec, "nodeName"));
    page.field("Phase", string_at(status, "phase"));
    if (const std::string_view reason = string_at(status, "reason"); !reason.empty())
        page.field("Reason", printable_cell(reason));
    if (const std::string_view message = string_at(status, "message"); !message.empty())
        page.field("Message", printable_cell(message));
    page.field("IP", string_at(status, "podIP"));
    ObjectTable table = table_of({"Name", "Restarts", "State", "Before"});
    if (const std::optional<PodView> view = pod_view(pod))
        for (const ContainerView& container : view->containers)
            add_row(table,
                    {container.name, std::to_string(container.restarts), state_words(container),
                     container.last_terminated ? describe(*container.last_terminated) : ""});
    page.table("Containers", table);
    add_conditions(page, status, now);
}

/// Whether a container of the pod ended after someone had asked for the pod's deletion.
bool was_ended_by_deletion(const json::object& pod, std::string_view finished) {
    const json::object& metadata = kube::metadata_of(pod);
    const auto gone = kube::parse_time(string_at(metadata, "deletionTimestamp"));
    const auto end = kube::parse_time(finished);
    if (!gone || !end) return false;
    const std::chrono::seconds grace(
        kube::int_at(metadata, "deletionGracePeriodSeconds").value_or(0));
    return *end >= *gone - grace;
}

/// The container whose failure came first among those of a job's pods.
std::string first_failure(const std::vector<kube::ObjectPtr>& pods) {
    std::string earliest;
    std::string words;
    for (const kube::ObjectPtr& object : pods) {
        const json::object& pod = object->get_object();
        const json::array* statuses = kube::array_at(child(pod, "status"), "containerStatuses");
        if (statuses == nullptr) continue;
        for (const json::value& item : *statuses) {
            const json::object* container = item.if_object();
            if (container == nullptr) continue;
            for (const char* when : {"state", "lastState"}) {
                const json::object& end = child(child(*container, when), "terminated");
                const std::string at(string_at(end, "finishedAt"));
                const bool failed = kube::int_at(end, "exitCode").value_or(0) != 0;
                if (!failed || was_ended_by_deletion(pod, at) ||
                    (!earliest.empty() && at >= earliest))
                    continue;
                earliest = at;
                const TerminationView view{
                    .exit_code = static_cast<int>(kube::int_at(end, "exitCode").value_or(0)),
                    .signal = static_cast<int>(kube::int_at(end, "signal").value_or(0)),
                    .reason = std::string(string_at(end, "reason")),
                    .message = std::string(string_at(end, "message"))};
                words = fmt::format("pod {}, container {} {}", kube::name_of(pod),
                                    string_at(*container, "name"), describe(view));
            }
        }
    }
    return words;
}

void describe_job(Page& page, const json::object& job, const std::vector<kube::ObjectPtr>& pods,
                  WallTime now) {
    const json::object& status = child(job, "status");
    page.field("Started", string_at(status, "startTime"));
    page.field("Completed", string_at(status, "completionTime"));
    ObjectTable replicas = table_of({"Type", "Active", "Succeeded", "Failed", "Restarts"});
    for (const auto& [type, value] : child(status, "replicaStatuses")) {
        const json::object* counts = value.if_object();
        if (counts == nullptr) continue;
        const auto count = [&](std::string_view key) {
            return std::to_string(kube::int_at(*counts, key).value_or(0));
        };
        add_row(replicas, {std::string(type), count("active"), count("succeeded"), count("failed"),
                           count("restarts")});
    }
    page.table("Replicas", replicas);
    if (const std::string failure = first_failure(pods); !failure.empty())
        page.field("First to fail", printable_cell(failure));
    ObjectTable table = table_of({"Name", "Phase", "Restarts", "Node"});
    for (const kube::ObjectPtr& pod : pods)
        if (const std::optional<PodView> view = pod_view(*pod))
            add_row(table, {view->name, view->phase, std::to_string(view->restarts()),
                            std::string(string_at(child(pod->get_object(), "spec"), "nodeName"))});
    page.table("Pods", table);
    add_conditions(page, status, now);
}

void describe_node(Page& page, const json::object& node, WallTime now) {
    const json::object& status = child(node, "status");
    const json::object& info = child(status, "nodeInfo");
    page.field("Kernel", string_at(info, "kernelVersion"));
    page.field("System", string_at(info, "osImage"));
    page.field("Runtime", string_at(info, "containerRuntimeVersion"));
    ObjectTable table = table_of({"Resource", "Capacity", "Allocatable"});
    for (const auto& [name, value] : child(status, "capacity")) {
        const json::value* allocatable = child(status, "allocatable").if_contains(name);
        add_row(table, {std::string(name), plain_text(value),
                        allocatable == nullptr ? "" : plain_text(*allocatable)});
    }
    page.table("Resources", table);
    add_conditions(page, status, now);
}

/// The content of a Secret must not be shown on a screen.
void describe_secret(Page& page, const json::object& secret) {
    page.field("Type", string_at(secret, "type"));
    ObjectTable table = table_of({"Key", "Bytes"});
    for (const auto& [key, value] : child(secret, "data")) {
        const json::string* encoded = value.if_string();
        const auto bytes = encoded == nullptr ? std::nullopt : kube::base64_decode(*encoded);
        add_row(table, {std::string(key), bytes ? std::to_string(bytes->size()) : "?"});
    }
    page.table("Data", table);
}

}  // namespace

std::string describe_object(const json::value& value, const std::vector<kube::ObjectPtr>& pods,
                            const std::vector<kube::ObjectPtr>& events, WallTime now) {
    Page page;
    const json::object* object = value.if_object();
    if (object == nullptr) return {};
    const json::object& metadata = kube::metadata_of(*object);
    const std::string_view kind = string_at(*object, "kind");
    const std::string_view version = string_at(*object, "apiVersion");
    page.field("Name", kube::name_of(*object));
    if (!kube::namespace_of(*object).empty()) page.field("Namespace", kube::namespace_of(*object));
    page.field("Kind", fmt::format("{} ({})", kind, version));
    page.field("Labels", object_at(metadata, "labels"));
    page.field("Annotations", object_at(metadata, "annotations"));
    const std::string_view created = string_at(metadata, "creationTimestamp");
    page.field("Created", fmt::format("{} ({} ago)", created, kube::age_text(created, now)));
    if (const std::string_view going = string_at(metadata, "deletionTimestamp"); !going.empty())
        page.field("Deleted", fmt::format("{}, not gone yet", going));
    if (kind == "Pod" && version == "v1") {
        describe_pod(page, *object, now);
    } else if (kind == "Node" && version == "v1") {
        describe_node(page, *object, now);
    } else if (kind == "Secret" && version == "v1") {
        describe_secret(page, *object);
    } else if (jobs::find_kind(version, kind) != nullptr) {
        describe_job(page, *object, pods, now);
    } else {
        for (const auto& [key, field] : *object)
            if (key != "apiVersion" && key != "kind" && key != "metadata") {
                if (field.is_object() || field.is_array())
                    page.yaml(key, field);
                else
                    page.field(key, printable_cell(plain_text(field)));
            }
    }
    page.table("Events", event_table(events, now, false));
    return page.take();
}

}  // namespace muster::cli
