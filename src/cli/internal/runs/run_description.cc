#include "cli/internal/runs/run_description.h"

#include <fmt/format.h>

#include <chrono>
#include <iterator>

#include "base/shell_word.h"
#include "cli/internal/describe/description.h"
#include "cli/internal/describe/event_lines.h"
#include "cli/internal/record/run_folder.h"
#include "cli/internal/record/run_objects.h"
#include "cli/internal/run/event_text.h"
#include "kube/values/json_access.h"
#include "kube/values/time.h"

namespace muster::cli {

namespace {

void field(std::string& text, std::string_view name, std::string_view value) {
    fmt::format_to(std::back_inserter(text), "{:<15} {}\n", fmt::format("{}:", name),
                   value.empty() ? "<none>" : value);
}

std::string line_of(const std::vector<std::string>& words) {
    std::string line = "muster";
    for (const std::string& word : words) line += " " + shell_word(word);
    return line;
}

std::string head_of(const FoundRun& run, WallTime now) {
    const RunRecord& record = run.record;
    std::string text;
    field(text, "Run", record.name);
    field(text, "State", run.state());
    if (record.end) field(text, "Exit status", std::to_string(record.end->status));
    field(text, "Command", line_of(record.command));
    field(text, "Directory", record.directory);
    if (record.on_cluster)
        field(
            text, "Cluster",
            record.context.empty() ? "that of " + record.kubeconfig : "context " + record.context);
    if (run.alive) field(text, "Process", std::to_string(record.pid));
    field(text, "Started", kube::format_time(record.started));
    if (record.end) field(text, "Ended", kube::format_time(record.end->at));
    const WallTime until = record.end ? record.end->at : now;
    if (record.end || run.alive)
        field(text, "Took",
              tell_duration(std::chrono::duration<double>(until - record.started).count()));
    field(text, "Folder", run.folder.string());
    return text;
}

std::vector<kube::ObjectPtr> events_about(const std::vector<kube::ObjectPtr>& events,
                                          const json::value& object) {
    const json::object& root = object.get_object();
    const EventSubject subject{std::string(kube::string_at(root, "kind")),
                               std::string(kube::name_of(root)), std::string(kube::uid_of(root))};
    std::vector<kube::ObjectPtr> own;
    for (const kube::ObjectPtr& event : events)
        if (is_about(*event, subject)) own.push_back(event);
    return own;
}

}  // namespace

Result<std::string> describe_run(const FoundRun& run, WallTime now) {
    std::string text = head_of(run, now);
    const Result<std::string> kept = read_run_file(run.folder, kObjectsFile);
    if (!kept) return text;  // it has only begun
    TRY(const RunObjects objects, run_objects(*kept));
    for (const kube::ObjectPtr& job : objects.jobs)
        text += "\n" + describe_object(*job, objects.pods_of(*job),
                                       events_about(objects.events, *job), now);
    for (const kube::ObjectPtr& pod : objects.pods) {
        const bool bare = kube::objects_at(kube::metadata_of(*pod), "ownerReferences").empty();
        if (bare) text += "\n" + describe_object(*pod, {}, events_about(objects.events, *pod), now);
    }
    return text;
}

}  // namespace muster::cli
