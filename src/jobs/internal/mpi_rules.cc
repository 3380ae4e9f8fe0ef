#include <fmt/format.h>

#include <algorithm>

#include "jobs/internal/mpijob.h"
#include "jobs/internal/spec_binding.h"
#include "jobs/internal/text.h"
#include "net/port.h"

namespace muster::jobs {
namespace {

/// A ConfigMap's limit.
constexpr std::size_t kMostConfigBytes = 1 << 20;

const std::string kWorkerName(kMpiWorker);

template <class T>
bool is_set(const std::optional<T>& value) {
    return value.has_value();
}
bool is_set(const std::string& value) { return !value.empty(); }

/// A field of older versions and the one of the run policy that replaced it. `policy` is the run
/// policy as it was written: the job's own has the older fields' values filled in.
template <class T>
void check_twice(const T& old, const T& now, std::string_view field, std::vector<Cause>& causes) {
    if (!is_set(old) || !is_set(now) || old == now) return;
    causes.push_back(
        forbidden(fmt::format("spec.{}", field),
                  fmt::format("spec.runPolicy.{} says something else; keep only that one", field)));
}

void check_main_container(const Job& job, const std::string& name, std::vector<Cause>& causes) {
    const ReplicaSpec* worker = job.replica(kWorkerName);
    if (name.empty() || worker == nullptr) return;
    std::vector<std::string> known;
    for (const kube::Container& container : worker->template_.spec.containers)
        known.push_back(container.name);
    if (known.empty() || std::ranges::find(known, name) != known.end()) return;
    causes.push_back(not_found("spec.mainContainer",
                               fmt::format("the workers have no container \"{}\"{}; write {}", name,
                                           did_you_mean(name, known), one_of(known))));
}

std::string annotation_field(std::string_view name) {
    return fmt::format("metadata.annotations[{}]", name);
}

const std::string* annotation(const Job& job, std::string_view name) {
    const auto found = job.metadata.annotations.find(std::string(name));
    return found == job.metadata.annotations.end() ? nullptr : &found->second;
}

void check_shell(const Job& job, std::vector<Cause>& causes) {
    if (const std::string* shell = annotation(job, kShellAnnotation)) {
        const std::string_view own = has_first_dialect(job) ? kShellKubectl : kShellSsh;
        if (*shell != kShellOurs && *shell != own)
            causes.push_back(invalid(
                annotation_field(kShellAnnotation),
                fmt::format("\"{}\" can't reach the workers of this version's jobs; write {}",
                            *shell, one_of({std::string(kShellOurs), std::string(own)}))));
    }
    if (const std::string* port = annotation(job, kPortAnnotation); port && !net::parse_port(*port))
        causes.push_back(invalid(annotation_field(kPortAnnotation),
                                 fmt::format("\"{}\" is not a port; write 1 to 65535", *port)));
}

/// v2beta1 requires at least one worker if it has the type at all.
void check_workers(const Job& job, std::vector<Cause>& causes) {
    const ReplicaSpec* worker = job.replica(kWorkerName);
    if (worker == nullptr || has_first_dialect(job)) return;
    const std::string path = job.replica_path(kWorkerName) + ".replicas";
    if (!worker->replicas)
        causes.push_back(required(path, "write how many workers there are"));
    else if (*worker->replicas == 0)
        causes.push_back(
            invalid(path, "must be at least 1; leave the Worker out for a launcher alone"));
}

/// All their names go into one ConfigMap.
void check_lists(const Job& job, std::vector<Cause>& causes) {
    Job named = job;
    apply_defaults(named);
    const MpiView mpi = view_of(named);
    if (mpi.workers <= 0 || config_bytes(mpi, mpi.workers) <= kMostConfigBytes) return;
    const std::size_t fixed = config_bytes(mpi, 0);
    const std::size_t each =
        (config_bytes(mpi, mpi.workers) - fixed) / static_cast<std::size_t>(mpi.workers);
    causes.push_back(invalid(
        job.replica_path(kWorkerName) + ".replicas",
        fmt::format("the hostfile would not fit into a ConfigMap: {} workers of this name do; "
                    "shorten the job's name, or put more slots on fewer workers",
                    (kMostConfigBytes - fixed) / each)));
}

}  // namespace

std::vector<Cause> mpi_rules(const Job& job) {
    const auto& spec = spec_of<MpiJobSpec>(job);
    std::vector<Cause> causes;
    check_twice(spec.clean_pod_policy, spec.run_policy.clean_pod_policy, "cleanPodPolicy", causes);
    check_twice(spec.backoff_limit, spec.run_policy.backoff_limit, "backoffLimit", causes);
    check_twice(spec.active_deadline_seconds, spec.run_policy.active_deadline_seconds,
                "activeDeadlineSeconds", causes);
    if (is_set(spec.mpi_distribution) && is_set(spec.mpi_implementation))
        causes.push_back(forbidden("spec.mpiDistribution",
                                   "spec.mpiImplementation is set too; keep only that one"));
    if (is_set(spec.ssh_auth_mount_path) && !spec.ssh_auth_mount_path.starts_with('/'))
        causes.push_back(
            invalid("spec.sshAuthMountPath", "must be a path from the root, such as /root/.ssh"));
    check_main_container(job, spec.main_container, causes);
    check_shell(job, causes);
    check_workers(job, causes);
    check_lists(job, causes);
    return causes;
}

std::vector<AdmissionRule> mpi_admission_rules(bool second_dialect) {
    std::vector<AdmissionRule> rules;
    const auto once = [&](std::string_view field, std::string_view unset) {
        rules.push_back(
            {.expression = fmt::format(
                 "object.spec.?{0}.orValue({1}) == {1} || object.spec.?runPolicy.?{0}.orValue({1}) "
                 "== {1} || object.spec.{0} == object.spec.runPolicy.{0}",
                 field, unset),
             .message = fmt::format(
                 "spec.{0}: spec.runPolicy.{0} says something else; keep only that one", field)});
    };
    once("cleanPodPolicy", "''");
    once("backoffLimit", "-1");
    once("activeDeadlineSeconds", "-1");
    rules.push_back({.expression = "object.spec.?mpiDistribution.orValue('') == '' || "
                                   "object.spec.?mpiImplementation.orValue('') == ''",
                     .message = "spec.mpiDistribution: spec.mpiImplementation is set too; keep "
                                "only that one"});
    rules.push_back({.expression = "object.spec.?sshAuthMountPath.orValue('/').matches('^(/|$)')",
                     .message = "spec.sshAuthMountPath: must be a path from the root, such as "
                                "/root/.ssh"});
    const std::string containers = "variables.replicas[t].?template.?spec.?containers.orValue([])";
    rules.push_back(
        {.expression = fmt::format("object.spec.?mainContainer.orValue('') == '' || "
                                   "variables.replicas.all(t, t.lowerAscii() != 'worker' || "
                                   "size({0}) == 0 || {0}.exists(c, c.?name.orValue('') == "
                                   "object.spec.mainContainer))",
                                   containers),
         .message = "spec.mainContainer: the workers have no container of this name"});
    const std::string_view own = second_dialect ? kShellSsh : kShellKubectl;
    rules.push_back(
        {.expression =
             fmt::format("object.metadata.?annotations[?'{}'].orValue('{}') in ['{}', '{}']",
                         kShellAnnotation, kShellOurs, kShellOurs, own),
         .message = fmt::format("{}: it can't reach the workers of this version's jobs; write {}",
                                annotation_field(kShellAnnotation),
                                one_of({std::string(kShellOurs), std::string(own)}))});
    if (second_dialect)
        rules.push_back(
            {.expression = "variables.replicas.all(t, t.lowerAscii() != 'worker' || "
                           "variables.replicas[t].?replicas.orValue(0) > 0)",
             .message = "spec.mpiReplicaSpecs.Worker.replicas: write how many workers there are, "
                        "at least 1; leave the Worker out for a launcher alone"});
    return rules;
}

std::vector<Cause> mpi_warnings(const Job& job) {
    const auto& spec = spec_of<MpiJobSpec>(job);
    const RemoteShell shell = shell_of(job);
    std::vector<Cause> found;
    if (job.kind->resource.version != kMpiV1 && job.kind->resource.version != kMpiV2)
        found.push_back(
            deprecated("apiVersion", fmt::format("{} is read as kubeflow.org/v1; write that",
                                                 job.kind->resource.api_version())));
    const auto moved = [&](bool set, std::string_view field) {
        if (set)
            found.push_back(deprecated(fmt::format("spec.{}", field),
                                       fmt::format("use spec.runPolicy.{}", field)));
    };
    moved(is_set(spec.clean_pod_policy), "cleanPodPolicy");
    moved(is_set(spec.backoff_limit), "backoffLimit");
    moved(is_set(spec.active_deadline_seconds), "activeDeadlineSeconds");
    if (is_set(spec.mpi_distribution))
        found.push_back(deprecated("spec.mpiDistribution", "use spec.mpiImplementation"));
    if (shell == RemoteShell::kSsh && is_set(spec.main_container))
        found.push_back(ineffective("spec.mainContainer",
                                    "ssh reaches the container that runs sshd, whatever its name"));
    if (shell != RemoteShell::kSsh && is_set(spec.ssh_auth_mount_path))
        found.push_back(ineffective("spec.sshAuthMountPath", "the workers are not reached by ssh"));
    if (const std::string* hosts = annotation(job, kHostfileAnnotation)) {
        const std::string field = annotation_field(kHostfileAnnotation);
        if (shell == RemoteShell::kKubectl)
            found.push_back(ineffective(field, "kubectl takes names of pods, not addresses"));
        else if (*hosts != kHostfileAddresses)
            found.push_back(ineffective(
                field, fmt::format("\"{}\" is not known, so the hostfile has names; write \"{}\"",
                                   *hosts, kHostfileAddresses)));
    }
    if (annotation(job, kPortAnnotation) != nullptr && shell != RemoteShell::kOurs &&
        annotation(job, kShellAnnotation) != nullptr)
        found.push_back(ineffective(annotation_field(kPortAnnotation),
                                    "the workers are not reached by muster rsh"));
    const kube::Container* const entered = entered_container(job);
    if (shell == RemoteShell::kOurs && entered != nullptr && has_own_command(*entered) &&
        !serves_beside_command(job))
        found.push_back(
            doubtful(annotation_field(kShellAnnotation),
                     "the workers have a command of their own, which has to start 'muster rsh "
                     "--serve'; leave it out, and they get it"));
    const ReplicaSpec* worker = job.replica(kWorkerName);
    if (worker == nullptr || worker->replicas.value_or(0) == 0)
        found.push_back(doubtful(job.replica_path(kWorkerName),
                                 "there are no workers: all ranks run in the launcher"));
    return found;
}

}  // namespace muster::jobs
