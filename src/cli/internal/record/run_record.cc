#include "cli/internal/record/run_record.h"

#include <fmt/format.h>

#include "base/parse_number.h"
#include "kube/values/json_access.h"
#include "kube/values/time.h"

namespace muster::cli {

namespace {

json::array to_array(const std::vector<std::string>& texts) {
    json::array array;
    for (const std::string& text : texts) array.emplace_back(text);
    return array;
}

json::object end_to_json(const RunEnd& end) {
    return {{"at", kube::format_nano_time(end.at)},
            {"exitStatus", end.status},
            {"result", end.result},
            {"why", to_array(end.why)},
            {"restarts", end.restarts},
            {"bytes", static_cast<std::int64_t>(end.bytes)}};
}

WallTime time_at(const json::object& object, std::string_view key) {
    return kube::parse_time(kube::string_at(object, key)).value_or(WallTime{});
}

RunEnd end_from(const json::object& object) {
    return {.at = time_at(object, "at"),
            .status = static_cast<int>(kube::int_at(object, "exitStatus").value_or(1)),
            .result = std::string(kube::string_at(object, "result")),
            .why = kube::strings_at(object, "why"),
            .restarts = static_cast<int>(kube::int_at(object, "restarts").value_or(0)),
            .bytes = static_cast<std::uint64_t>(kube::int_at(object, "bytes").value_or(0))};
}

}  // namespace

json::value to_json(const RunRecord& record) {
    json::array subjects;
    for (const RunSubject& subject : record.subjects)
        subjects.emplace_back(json::object{
            {"kind", subject.kind}, {"namespace", subject.namespace_}, {"name", subject.name}});
    json::object made{{"name", record.name},
                      {"subjects", std::move(subjects)},
                      {"command", to_array(record.command)},
                      {"directory", record.directory},
                      {"version", record.version},
                      {"inBackground", record.in_background},
                      {"pid", record.pid},
                      {"started", kube::format_nano_time(record.started)}};
    if (record.on_cluster)
        made["cluster"] =
            json::object{{"kubeconfig", record.kubeconfig}, {"context", record.context}};
    if (record.end) made["end"] = end_to_json(*record.end);
    return made;
}

Result<RunRecord> run_record(const json::value& value) {
    const json::object* const object = value.if_object();
    if (object == nullptr || kube::string_at(*object, "name").empty())
        return Error(Code::kInvalid, "it is not the record of a run");
    RunRecord record;
    record.name = kube::string_at(*object, "name");
    for (const json::object* subject : kube::objects_at(*object, "subjects"))
        record.subjects.push_back(
            {.kind = std::string(kube::string_at(*subject, "kind")),
             .namespace_ = std::string(kube::string_at(*subject, "namespace")),
             .name = std::string(kube::string_at(*subject, "name"))});
    record.command = kube::strings_at(*object, "command");
    record.directory = kube::string_at(*object, "directory");
    record.version = kube::string_at(*object, "version");
    record.in_background = kube::bool_at(*object, "inBackground");
    record.pid = static_cast<pid_t>(kube::int_at(*object, "pid").value_or(0));
    record.started = time_at(*object, "started");
    if (const json::object* cluster = kube::object_at(*object, "cluster")) {
        record.on_cluster = true;
        record.kubeconfig = kube::string_at(*cluster, "kubeconfig");
        record.context = kube::string_at(*cluster, "context");
    }
    if (const json::object* end = kube::object_at(*object, "end")) record.end = end_from(*end);
    return record;
}

std::string job_of_run(const std::string& name) {
    const std::size_t dash = name.rfind('-');
    if (dash == std::string::npos || number_of_run(name) == 0) return {};
    return name.substr(0, dash);
}

int number_of_run(const std::string& name) {
    const std::size_t dash = name.rfind('-');
    if (dash == std::string::npos) return 0;
    return std::max(0, parse_number<int>(std::string_view(name).substr(dash + 1)).value_or(0));
}

}  // namespace muster::cli
