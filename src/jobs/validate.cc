#include <fmt/format.h>

#include <algorithm>

#include "jobs/internal/choices.h"
#include "jobs/internal/pod_rules.h"
#include "jobs/internal/text.h"
#include "jobs/kind.h"
#include "kube/values/field_path.h"
#include "kube/values/name_syntax.h"

namespace muster::jobs {
namespace {

using Causes = std::vector<Cause>;

void append(Causes& causes, Causes more) {
    causes.insert(causes.end(), std::make_move_iterator(more.begin()),
                  std::make_move_iterator(more.end()));
}

void check_choice(Causes& causes, const std::string& field, const std::string& value,
                  const std::vector<std::string>& allowed) {
    if (value.empty() || std::ranges::find(allowed, value) != allowed.end()) return;
    causes.push_back(
        not_supported(field, fmt::format("\"{}\" is not known{}; write {}", value,
                                         did_you_mean(value, allowed), one_of(allowed))));
}

/// The longest name that a pod or service of this job would have if it were called `name`; ""
/// without replicas.
std::string longest_name(const Job& job, const std::string& name) {
    Job named;
    named.kind = job.kind;
    named.metadata.name = name;
    std::string longest;
    for (const auto& [type, spec] : job.replicas) {
        const ReplicaType* known = job.kind->replica_type(type);
        if (known == nullptr || known->beside) continue;
        const std::int32_t replicas =
            known->only_replicas.value_or(spec.replicas.value_or(known->default_replicas));
        const std::int32_t last = std::clamp(replicas, 1, kMaxReplicas) - 1;
        std::string candidate = replica_name(named, {type, last});
        if (candidate.size() > longest.size()) longest = std::move(candidate);
    }
    return longest;
}

void check_name(const Job& job, Causes& causes) {
    // The server adds five characters to a generateName.
    const bool generated = job.metadata.name.empty() && !job.metadata.generate_name.empty();
    const std::string field = generated ? "metadata.generateName" : "metadata.name";
    const std::string name = generated ? job.metadata.generate_name + "xxxxx" : job.metadata.name;
    if (name.empty()) {
        causes.push_back(required(field, "the job needs a name"));
        return;
    }
    const std::string longest = longest_name(job, name);
    const std::size_t length = std::max(longest.size(), name.size());
    const std::size_t excess = length > kube::kMaxLabelName ? length - kube::kMaxLabelName : 0;
    if (!kube::has_dns1035_form(name)) {
        const std::string better = excess > 0 ? "" : dns1035_from(job.metadata.name);
        causes.push_back(invalid(
            field,
            fmt::format("\"{}\" is not a job name: it takes lower-case letters, digits and '-', a "
                        "letter first and no '-' last{}",
                        generated ? job.metadata.generate_name : name,
                        better.empty() ? "" : fmt::format("; \"{}\" would do", better))));
    }
    if (excess == 0) return;
    causes.push_back(invalid(
        field,
        longest.empty()
            ? fmt::format("the name has {} characters of at most {}: shorten it by {}", length,
                          kube::kMaxLabelName, excess)
            : fmt::format("the name has {} characters, and its pod \"{}\" would have {} of at most "
                          "{}: shorten the name by {}",
                          name.size(), longest, length, kube::kMaxLabelName, excess)));
}

void check_type_name(const Job& job, const std::string& key, const std::string& path,
                     Causes& causes) {
    std::vector<std::string> known;
    for (const ReplicaType& type : job.kind->written_types()) {
        if (type.lower() == lower_case(key)) {
            causes.push_back(duplicate(
                path,
                fmt::format("this is the replica type {} again; keep one of them", type.name)));
            return;
        }
        known.push_back(type.name);
    }
    causes.push_back(not_supported(
        path, fmt::format("a {} has no replica type \"{}\"{}; write {}", job.kind->resource.kind,
                          key, did_you_mean(key, known), one_of(known))));
}

void check_policy(const Job& job, const ReplicaType& type, const std::string& policy,
                  const std::string& field, Causes& causes) {
    const std::vector<std::string>& allowed = type.restart_policies;
    const bool known = std::ranges::find(restart_policies(), policy) != restart_policies().end();
    if (!known || allowed.empty() || std::ranges::find(allowed, policy) != allowed.end())
        return check_choice(causes, field, policy, restart_policies());
    causes.push_back(not_supported(
        field, fmt::format("a {}'s {} can't have the policy \"{}\"; write {}",
                           job.kind->resource.kind, type.name, policy, one_of(allowed))));
}

void check_replicas(const Job& job, const ReplicaType& type, const ReplicaSpec& spec,
                    const std::string& path, Causes& causes) {
    if (!type.only_replicas || !spec.replicas || *spec.replicas == *type.only_replicas) return;
    if (*spec.replicas < 0) return;  // the schema says so
    std::vector<std::string> free;
    for (const ReplicaType& other : job.kind->written_types())
        if (!other.only_replicas) free.push_back(other.name);
    causes.push_back(forbidden(
        path + ".replicas",
        fmt::format("must be {}, got {}{}", *type.only_replicas, *spec.replicas,
                    free.empty() ? "" : fmt::format("; more pods go into {}", one_of(free)))));
}

}  // namespace

std::vector<Cause> validate(const Job& job) {
    const JobKind& kind = *job.kind;
    const std::string map_path = "spec." + kind.replicas_field;
    Causes causes;
    check_name(job, causes);
    check_choice(causes, "spec.runPolicy.cleanPodPolicy", job.run_policy.clean_pod_policy,
                 clean_pod_policies());
    std::vector<std::string> in_charge = controllers_in_charge();
    if (!kind.own_operator.empty()) in_charge.push_back(kind.own_operator);
    check_choice(causes, "spec.runPolicy.managedBy", job.run_policy.managed_by, in_charge);

    std::vector<std::string> type_names;
    type_names.reserve(kind.written_types().size());
    for (const ReplicaType& type : kind.written_types()) type_names.push_back(type.name);
    if (job.replicas.empty())
        causes.push_back(
            required(map_path, fmt::format("there are no replicas; add {}", one_of(type_names))));
    for (const auto& [name, spec] : job.replicas)
        if (kind.replica_type(name) == nullptr || kind.is_beside(name))
            check_type_name(job, name, kube::child_path(map_path, name), causes);
    for (const ReplicaType& type : kind.written_types()) {
        const ReplicaSpec* spec = job.replica(type.name);
        if (spec == nullptr) {
            if (type.required && !job.replicas.empty())
                causes.push_back(
                    required(kube::child_path(map_path, type.name),
                             fmt::format("a {} needs this replica type", kind.resource.kind)));
            continue;
        }
        const std::string path = job.replica_path(type.name);
        check_replicas(job, type, *spec, path, causes);
        check_policy(job, type, spec->restart_policy, path + ".restartPolicy", causes);
        append(causes, check_template(kind, type, spec->template_, path));
    }
    if (kind.own_rules) append(causes, kind.own_rules(job));
    return causes;
}

std::vector<Cause> validate_update(const Job& before, const Job& after) {
    auto queue = [](const Job& job) {
        return job.run_policy.scheduling_policy ? job.run_policy.scheduling_policy->queue
                                                : std::string();
    };
    Causes causes;
    if (before.run_policy.managed_by != after.run_policy.managed_by)
        causes.push_back(invalid("spec.runPolicy.managedBy",
                                 fmt::format("can't change while the job exists; it is \"{}\"",
                                             before.run_policy.managed_by)));
    if (!queue(before).empty() && queue(before) != queue(after))
        causes.push_back(
            invalid("spec.runPolicy.schedulingPolicy.queue",
                    fmt::format("can't change while the job exists; it is \"{}\"", queue(before))));
    return causes;
}

}  // namespace muster::jobs
