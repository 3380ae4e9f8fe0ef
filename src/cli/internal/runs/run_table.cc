#include "cli/internal/runs/run_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/serialize.hpp>

#include "cli/internal/run/views.h"
#include "kube/objects/age.h"
#include "kube/values/json_access.h"
#include "kube/values/time.h"

namespace muster::cli {

namespace {

constexpr std::string_view kHere = "here";

std::string span(const std::optional<WallTime>& from, const std::optional<WallTime>& to) {
    if (!from || !to) return "-";
    return kube::duration_text(kube::span_between(*from, *to));
}

std::string state_of(const JobView& job) {
    if (job.succeeded()) return "succeeded";
    if (job.failed()) return "failed";
    for (const char* type : {"Suspended", "Restarting", "Running", "Created"})
        if (job.true_condition(type) != nullptr) {
            std::string state(type);
            state.front() = static_cast<char>(state.front() - 'A' + 'a');
            return state;
        }
    return "pending";
}

json::value time_or_null(const std::optional<WallTime>& time) {
    return time ? json::value(kube::format_time(*time)) : json::value();
}

}  // namespace

RunRow row_of(const FoundRun& run) {
    const RunRecord& record = run.record;
    RunRow row{.name = record.name,
               .kind = record.subjects.empty() ? "-" : record.subjects.front().kind,
               .where = std::string(kHere),
               .state = run.state(),
               .is_run = true,
               .alive = run.alive,
               .restarts = record.end ? record.end->restarts : 0,
               .started = std::nullopt,
               .ended = std::nullopt,
               .status = std::nullopt};
    if (record.started != WallTime{}) row.started = record.started;
    if (record.subjects.size() > 1) row.kind += fmt::format(" +{}", record.subjects.size() - 1);
    if (record.on_cluster)
        row.where = record.context.empty() ? "a cluster" : "context " + record.context;
    if (record.end) {
        row.ended = record.end->at;
        row.status = record.end->status;
    }
    return row;
}

std::optional<RunRow> row_of(const json::value& object, const std::string& where) {
    const std::optional<JobView> job = job_view(object);
    if (!job) return std::nullopt;
    const json::object& status = kube::child(object.get_object(), "status");
    RunRow row{.name = job->name,
               .kind = job->kind,
               .where = where,
               .state = state_of(*job),
               .is_run = false,
               .alive = !job->finished(),
               .restarts = job->group_restarts,
               .started = kube::parse_time(
                   kube::string_at(kube::metadata_of(object), "creationTimestamp")),
               .ended = kube::parse_time(kube::string_at(status, "completionTime")),
               .status = std::nullopt};
    if (job->namespace_ != "default") row.name = job->namespace_ + "/" + job->name;
    return row;
}

void sort_rows(std::vector<RunRow>& rows) {
    std::ranges::sort(rows, [](const RunRow& a, const RunRow& b) {
        if (a.alive != b.alive) return a.alive;
        if (a.started != b.started) return a.started > b.started;
        return a.name < b.name;
    });
}

ObjectTable run_table(const std::vector<RunRow>& rows, WallTime now) {
    ObjectTable table;
    for (const char* column :
         {"NAME", "KIND", "WHERE", "STATE", "RESTARTS", "STARTED", "TOOK", "EXIT"})
        table.columns.push_back({.name = column});
    for (const RunRow& row : rows) {
        TableRow made;
        made.name = row.name;
        const std::string age = span(row.started, now);
        made.cells = {row.name,
                      row.kind,
                      row.where,
                      row.state,
                      std::to_string(row.restarts),
                      age == "-" ? age : age + " ago",
                      span(row.started, row.alive ? std::optional(now) : row.ended),
                      row.status ? std::to_string(*row.status) : "-"};
        table.rows.push_back(std::move(made));
    }
    return table;
}

std::string rows_json(const std::vector<RunRow>& rows) {
    std::string text = "[";
    for (const RunRow& row : rows) {
        if (text.size() > 1) text += ",";
        text += "\n " + json::serialize(json::object{
                            {"name", row.name},
                            {"kind", row.kind},
                            {"where", row.where},
                            {"state", row.state},
                            {"alive", row.alive},
                            {"restarts", row.restarts},
                            {"started", time_or_null(row.started)},
                            {"ended", time_or_null(row.ended)},
                            {"exitStatus", row.status ? json::value(*row.status) : json::value()}});
    }
    return text + (rows.empty() ? "]\n" : "\n]\n");
}

}  // namespace muster::cli
