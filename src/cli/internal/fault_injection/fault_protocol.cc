#include "cli/internal/fault_injection/fault_protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <cctype>
#include <csignal>
#include <set>
#include <utility>

#include "base/lower_case.h"
#include "base/nearest_name.h"
#include "base/parse_number.h"
#include "base/signal_name.h"
#include "cli/internal/logs/log_sources.h"
#include "kube/values/json_access.h"
#include "kube/values/read_json.h"

namespace muster::cli {

namespace {

using kube::string_at;

constexpr FaultKind kVerbs[] = {FaultKind::kKill, FaultKind::kPause, FaultKind::kPartition};

Error not_understood(std::string_view line) {
    return Error(Code::kInvalid,
                 fmt::format("not understood: {} (the run is by another version of muster)",
                             line.substr(0, 200)));
}

Result<json::object> parse_object(std::string_view line) {
    std::optional<json::value> parsed = kube::read_json(line);
    if (!parsed || !parsed->is_object()) return not_understood(line);
    return std::move(parsed->get_object());
}

std::string line_of(const json::object& object) { return json::serialize(object) + "\n"; }

std::string listed(const std::set<std::string>& names) {
    return fmt::format("{}", fmt::join(names, ", "));
}

using Pods = std::vector<const RunPod*>;

Error no_such_job(const std::vector<RunPod>& pods, const FaultTarget& target) {
    std::set<std::string> jobs;
    for (const RunPod& pod : pods)
        if (target.namespace_.empty() || pod.namespace_ == target.namespace_) jobs.insert(pod.job);
    const std::string where =
        target.namespace_.empty() ? "" : fmt::format(" in namespace {}", target.namespace_);
    if (jobs.empty())
        return Error(Code::kNotFound, fmt::format("no 'muster run' has a job here{}: the run must "
                                                  "be yours, have the same TMPDIR, and have pods",
                                                  where));
    const std::string nearest = nearest_name(target.job, {jobs.begin(), jobs.end()});
    return Error(Code::kNotFound,
                 fmt::format("there is no job \"{}\" here{}; {}", target.job, where,
                             nearest.empty() ? fmt::format("there are: {}", listed(jobs))
                                             : fmt::format("did you mean \"{}\"?", nearest)));
}

/// Those of one job of one run.
Result<Pods> pods_of(const std::vector<RunPod>& pods, const FaultTarget& target) {
    Pods found;
    std::set<std::string> namespaces;
    std::set<std::size_t> runs;
    for (const RunPod& pod : pods) {
        if (pod.job != target.job) continue;
        if (!target.namespace_.empty() && pod.namespace_ != target.namespace_) continue;
        found.push_back(&pod);
        namespaces.insert(pod.namespace_);
        runs.insert(pod.run);
    }
    if (found.empty()) return no_such_job(pods, target);
    if (namespaces.size() > 1)
        return Error(Code::kInvalid,
                     fmt::format("there are jobs \"{}\" in the namespaces {}: say which with "
                                 "--namespace",
                                 target.job, listed(namespaces)));
    if (runs.size() > 1)
        return Error(Code::kInvalid,
                     fmt::format("{} runs have a job \"{}\", and nothing tells them apart: give "
                                 "one of them a namespace of its own ('muster run --namespace')",
                                 runs.size(), target.job));
    return found;
}

}  // namespace

std::string_view name_of(FaultKind verb) {
    switch (verb) {
        case FaultKind::kKill:
            return "kill";
        case FaultKind::kPause:
            return "pause";
        case FaultKind::kPartition:
            return "partition";
    }
    std::unreachable();
}

std::optional<RunPod> run_pod(const json::value& object) {
    const LogPod pod = log_pod(object);
    if (pod.job.empty()) return std::nullopt;
    // The part after the job's name: without an index if there is only one.
    const std::string prefix = fmt::format("{}-{}", pod.job, pod.view.replica_type);
    return RunPod{.namespace_ = pod.view.namespace_,
                  .job = pod.job,
                  .replica = pod.view.name.starts_with(prefix)
                                 ? pod.view.name.substr(pod.job.size() + 1)
                                 : fmt::format("{}-{}", pod.view.replica_type, pod.index),
                  .type = pod.view.replica_type,
                  .name = pod.view.name,
                  .phase = pod.view.phase};
}

Result<std::size_t> choose_pod(const std::vector<RunPod>& pods, const FaultTarget& target) {
    TRY(const Pods all, pods_of(pods, target));
    const std::string replica = lower_case(target.replica);
    std::set<std::string> names;
    Pods meant;
    for (const RunPod* const pod : all) {
        names.insert(pod->replica);
        if (replica.empty() || replica == pod->replica || replica == pod->type ||
            replica == pod->name)
            meant.push_back(pod);
    }
    if (meant.empty())
        return Error(Code::kNotFound, fmt::format("job {} has no replica \"{}\"; it has: {}",
                                                  target.job, target.replica, listed(names)));
    Pods alive;
    for (const RunPod* const pod : meant)
        if (!pod->ended()) alive.push_back(pod);
    if (alive.size() > 1) {
        std::set<std::string> choice;
        for (const RunPod* const pod : alive) choice.insert(pod->replica);
        return Error(Code::kInvalid, fmt::format("job {} has several: say which of {}", target.job,
                                                 listed(choice)));
    }
    if (alive.empty())
        return Error(Code::kUnavailable,
                     fmt::format("{} of job {} has ended ({})",
                                 meant.size() > 1 ? "each replica" : meant.front()->replica,
                                 target.job, meant.front()->phase));
    return static_cast<std::size_t>(alive.front() - pods.data());
}

std::optional<int> parse_signal(std::string_view text) {
    if (const auto number = parse_number<int>(text))
        return *number > 0 && *number < NSIG ? number : std::nullopt;
    std::string name(text);
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
    if (!name.starts_with("SIG")) name.insert(0, "SIG");
    return signal_by_name(name);
}

std::string list_line() { return line_of({{"list", true}}); }

std::string order_line(const FaultRequest& order) {
    json::object line{
        {"verb", name_of(order.kind)}, {"namespace", order.namespace_}, {"pod", order.pod}};
    if (order.kind == FaultKind::kKill) line["signal"] = order.signal.number;
    if (order.signal.rank) line["rank"] = *order.signal.rank;
    return line_of(line);
}

Result<std::optional<FaultRequest>> read_request(std::string_view line) {
    TRY(const json::object request, parse_object(line));
    if (kube::bool_at(request, "list")) return std::nullopt;
    FaultRequest order;
    const auto verb = std::ranges::find(kVerbs, string_at(request, "verb"), name_of);
    if (verb == std::end(kVerbs)) return not_understood(line);
    order.kind = *verb;
    order.namespace_ = string_at(request, "namespace");
    order.pod = string_at(request, "pod");
    order.signal.number = static_cast<int>(kube::int_at(request, "signal").value_or(SIGKILL));
    if (const auto rank = kube::int_at(request, "rank"))
        order.signal.rank = static_cast<int>(*rank);
    return std::optional(std::move(order));
}

std::string pods_line(const std::vector<RunPod>& pods) {
    json::array list;
    for (const RunPod& pod : pods)
        list.push_back(json::object{{"namespace", pod.namespace_},
                                    {"job", pod.job},
                                    {"replica", pod.replica},
                                    {"type", pod.type},
                                    {"name", pod.name},
                                    {"phase", pod.phase}});
    return line_of({{"pods", std::move(list)}});
}

std::string done_line(std::int64_t process) { return line_of({{"process", process}}); }

std::string error_line(const Error& error) { return line_of({{"error", error.message()}}); }

Result<FaultReply> read_answer(std::string_view line) {
    TRY(const json::object told, parse_object(line));
    if (const std::string_view error = string_at(told, "error"); !error.empty())
        return Error(Code::kUnavailable, std::string(error));
    FaultReply answer;
    answer.process = kube::int_at(told, "process").value_or(0);
    const json::array* const pods = kube::array_at(told, "pods");
    if (pods == nullptr) return answer;
    for (const json::value& item : *pods) {
        const json::object* const pod = item.if_object();
        if (pod == nullptr) return not_understood(line);
        answer.pods.push_back({.namespace_ = std::string(string_at(*pod, "namespace")),
                               .job = std::string(string_at(*pod, "job")),
                               .replica = std::string(string_at(*pod, "replica")),
                               .type = std::string(string_at(*pod, "type")),
                               .name = std::string(string_at(*pod, "name")),
                               .phase = std::string(string_at(*pod, "phase"))});
    }
    return answer;
}

}  // namespace muster::cli
