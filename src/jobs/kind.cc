#include "jobs/kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/object.hpp>

#include "jobs/internal/choices.h"
#include "jobs/internal/text.h"
#include "kube/objects/codec.h"

namespace muster::jobs {
namespace {

/// Keys that differ from a known replica type only in case are that type, as upstream's defaulting
/// has it. A second spelling of one type stays as it is, for validate() to refuse.
void rename_types(const JobKind& kind, Job& job) {
    std::vector<std::string> keys;
    keys.reserve(job.replicas.size());
    for (const auto& [key, spec] : job.replicas) keys.push_back(key);
    for (const std::string& key : keys) {
        if (kind.replica_type(key) != nullptr) continue;
        for (const ReplicaType& type : kind.written_types()) {
            if (type.lower() != lower_case(key) || job.replicas.contains(type.name)) continue;
            auto node = job.replicas.extract(key);
            node.key() = type.name;
            job.replicas.insert(std::move(node));
            job.spelled.emplace(type.name, key);
        }
    }
}

}  // namespace

std::string ReplicaType::lower() const { return lower_case(name); }

std::string JobKind::controller_name() const {
    return own_controller_name.empty() ? lower_case(resource.kind) + "-controller"
                                       : own_controller_name;
}

const ReplicaType* JobKind::replica_type(std::string_view name) const {
    for (const ReplicaType& type : replica_types)
        if (type.name == name) return &type;
    return nullptr;
}

std::span<const ReplicaType> JobKind::written_types() const {
    const auto first_beside = std::ranges::find(replica_types, true, &ReplicaType::beside);
    return {replica_types.begin(), first_beside};
}

bool JobKind::is_beside(std::string_view type) const {
    const ReplicaType* known = replica_type(type);
    return known != nullptr && known->beside;
}

const std::string& JobKind::condition_prefix() const {
    return reason_prefix.empty() ? resource.kind : reason_prefix;
}

bool JobKind::has_services(std::string_view type) const {
    const ReplicaType* known = replica_type(type);
    return services && (known == nullptr || known->service);
}

bool has_services(const Job& job, std::string_view type) {
    const bool serves_ranks = job.kind->serves_ranks && job.kind->serves_ranks(job);
    return !serves_ranks && job.kind->has_services(type);
}

const std::string& JobKind::default_policy(std::string_view type) const {
    const ReplicaType* known = replica_type(type);
    return known == nullptr || known->default_restart_policy.empty()
               ? default_restart_policy
               : known->default_restart_policy;
}

Verdict judge(const JobKind& kind, const SuccessPolicy& success_policy, std::string_view namespace_,
              std::string_view name, const ReplicaCounts& counts) {
    bool succeeded = counts.wanted > 0 && counts.succeeded >= counts.wanted;
    if (success_policy.enough == SuccessPolicy::Enough::kFirst) succeeded |= counts.first_succeeded;
    if (success_policy.enough == SuccessPolicy::Enough::kAny) succeeded |= counts.succeeded > 0;
    const std::string subject = success_policy.with_namespace
                                    ? fmt::format("{} {}/{}", kind.resource.kind, namespace_, name)
                                    : fmt::format("{} {}", kind.resource.kind, name);
    std::string running = subject + " is running.";
    if (succeeded)
        return {Outcome::kSucceeded,
                subject + (success_policy.with_namespace ? " successfully completed."
                                                         : " is successfully completed."),
                kind.runs_before_it_succeeds ? std::move(running) : std::string()};
    if (counts.active > 0) return {Outcome::kRunning, std::move(running)};
    return {};
}

bool is_ours(const JobKind& kind, std::string_view managed_by) {
    return managed_by.empty() || managed_by == kOwnController || managed_by == kind.own_operator;
}

bool restarts_all(const ReplicaType& type, std::string_view annotation) {
    if (type.beside) return false;
    if (annotation == annotations::kRestartGroup) return true;
    return type.restarts_all && annotation != annotations::kRestartReplica;
}

bool runs_own_program(const Job& job, const ReplicaType& type) {
    if (!type.own_program) return false;
    const auto written = job.metadata.annotations.find(std::string(annotations::kMaster));
    return written == job.metadata.annotations.end() ||
           written->second != annotations::kMasterOfImage;
}

std::string failure_message(const std::string& words, const JobKind& kind,
                            std::string_view namespace_, std::string_view name,
                            std::string_view type, std::int32_t count) {
    return fmt::format(fmt::runtime(words), fmt::arg("kind", kind.resource.kind),
                       fmt::arg("namespace", namespace_), fmt::arg("name", name),
                       fmt::arg("type", type), fmt::arg("count", count));
}

Job JobKind::decode(const json::value& object, std::vector<Cause>& problems) const {
    Job job;
    job.kind = this;
    const json::object* fields = object.if_object();
    if (fields == nullptr) problems.push_back({"FieldValueTypeInvalid", "must be an object", ""});
    auto field = [fields](std::string_view name) {
        const json::value* value = fields == nullptr ? nullptr : fields->if_contains(name);
        return value == nullptr || value->is_null() ? nullptr : value;
    };
    if (const json::value* metadata = field("metadata"))
        kube::decode_into(*metadata, job.metadata, "metadata", problems);
    static const json::value kNoSpec = json::object();
    const json::value* spec = field("spec");
    decode_spec(spec == nullptr ? kNoSpec : *spec, job, problems);
    if (const json::value* status = field("status")) job.status = read_status(*this, *status);
    rename_types(*this, job);
    return job;
}

Result<Job> JobKind::parse(const json::value& object) const {
    std::vector<Cause> problems;
    Job job = decode(object, problems);
    if (!problems.empty()) return kube::decode_error(std::move(problems));
    return job;
}

}  // namespace muster::jobs
