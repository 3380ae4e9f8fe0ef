#include "workloads/internal/jobs/job_spec.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube/values/json_access.h"

namespace muster::workloads {

namespace {

FailureRule read_rule(const json::object& rule) {
    FailureRule read;
    read.action = kube::string_at(rule, "action");
    if (const json::object* exits = kube::object_at(rule, "onExitCodes")) {
        read.container = kube::string_at(*exits, "containerName");
        read.codes_in = kube::string_at(*exits, "operator") == "In";
        if (const json::array* codes = kube::array_at(*exits, "values"))
            for (const json::value& code : *codes)
                if (const std::int64_t* number = code.if_int64()) read.codes.push_back(*number);
        std::ranges::sort(read.codes);
    }
    for (const json::object* pattern : kube::objects_at(rule, "onPodConditions")) {
        const std::string_view status = kube::string_at(*pattern, "status");
        read.conditions.push_back(fmt::format("{}={}", kube::string_at(*pattern, "type"),
                                              status.empty() ? "True" : status));
    }
    return read;
}

void read_failure_policy(const json::object& spec, JobSpec& read) {
    const json::object* policy = kube::object_at(spec, "podFailurePolicy");
    if (policy == nullptr) return;
    read.has_failure_policy = true;
    read.replaces_only_failed = true;
    for (const json::object* rule : kube::objects_at(*policy, "rules"))
        read.failure_rules.push_back(read_rule(*rule));
}

const ContainerExit* matching_exit(const FailureRule& rule, const PodFacts& pod) {
    for (const ContainerExit& ended : pod.exits) {
        if (!rule.container.empty() && rule.container != ended.container) continue;
        if (std::ranges::binary_search(rule.codes, ended.code) == *rule.codes_in) return &ended;
    }
    return nullptr;
}

/// Why the rule applies to the pod; empty: it does not.
std::string match(const FailureRule& rule, std::size_t number, const PodFacts& pod) {
    if (rule.codes_in) {
        const ContainerExit* ended = matching_exit(rule, pod);
        if (ended == nullptr) return {};
        return fmt::format(
            "Container {} for pod {} failed with exit code {} matching {} rule at index {}",
            ended->container, pod.name.text(), ended->code, rule.action, number);
    }
    for (const std::string& wanted : rule.conditions)
        if (std::ranges::find(pod.conditions, wanted) != pod.conditions.end())
            return fmt::format("Pod {} has condition {} matching {} rule at index {}",
                               pod.name.text(), wanted.substr(0, wanted.rfind('=')), rule.action,
                               number);
    return {};
}

}  // namespace

JobSpec read_job_spec(const json::object& job) {
    const json::object& spec = kube::child(job, "spec");
    JobSpec read;
    read.parallelism = kube::int_at(spec, "parallelism").value_or(1);
    read.completions = kube::int_at(spec, "completions");
    read.backoff_limit = kube::int_at(spec, "backoffLimit").value_or(read.backoff_limit);
    read.deadline_seconds = kube::int_at(spec, "activeDeadlineSeconds");
    read.ttl_seconds = kube::int_at(spec, "ttlSecondsAfterFinished");
    read.indexed = kube::string_at(spec, "completionMode") == "Indexed" && read.completions;
    read.suspended = kube::bool_at(spec, "suspend");
    const json::object& pod = kube::child(kube::child(spec, "template"), "spec");
    read.restarts_in_place = kube::string_at(pod, "restartPolicy") == "OnFailure";
    read.replaces_only_failed = kube::string_at(spec, "podReplacementPolicy") == "Failed";
    const std::string_view manager = kube::string_at(spec, "managedBy");
    read.managed_elsewhere = !manager.empty() && manager != "kubernetes.io/job-controller";
    read_failure_policy(spec, read);
    if (!read.indexed) return read;
    read.backoff_limit_per_index = kube::int_at(spec, "backoffLimitPerIndex");
    read.most_failed_indexes = kube::int_at(spec, "maxFailedIndexes");
    for (const json::object* rule : kube::objects_at(kube::child(spec, "successPolicy"), "rules"))
        read.success_rules.push_back(
            {.indexes = std::string(kube::string_at(*rule, "succeededIndexes")),
             .count = kube::int_at(*rule, "succeededCount")});
    return read;
}

bool has_failed(const JobSpec& spec, const PodFacts& pod) {
    if (pod.phase == PodPhase::kFailed) return true;
    return !spec.replaces_only_failed && pod.deleting && pod.phase != PodPhase::kSucceeded;
}

bool has_valid_index(const JobSpec& spec, const PodFacts& pod) {
    return !spec.indexed || (pod.index && *pod.index >= 0 && *pod.index < *spec.completions);
}

FailureVerdict judge_failure(const JobSpec& spec, const PodFacts& pod) {
    if (pod.phase != PodPhase::kFailed) return {};
    for (std::size_t i = 0; i < spec.failure_rules.size(); ++i) {
        const FailureRule& rule = spec.failure_rules[i];
        std::string why = match(rule, i, pod);
        if (why.empty()) continue;
        if (rule.action == "Ignore") return {.counts = false};
        if (rule.action == "FailJob") return {.fails_job = std::move(why)};
        return {.fails_index = rule.action == "FailIndex"};
    }
    return {};
}

}  // namespace muster::workloads
