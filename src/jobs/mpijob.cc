#include "jobs/internal/mpijob.h"

#include <fmt/format.h>

#include <algorithm>

#include "jobs/internal/choices.h"
#include "jobs/internal/program_in_pods.h"
#include "jobs/internal/spec_binding.h"
#include "net/port.h"

// MPIJob: kubeflow.org/v2beta1 (mpi-operator v0.8), v1 (training-operator v1.9) and v1alpha2
// (mpi-operator v0.3). The rest of it is in internal/mpi*.

namespace muster::jobs {

// Not in an unnamed namespace: argument-dependent lookup would not find it there.
static FieldNotes field_notes(const MpiJobSpec*) {
    return {
        {.member = "run_policy", .text = "How the job as a whole is run."},
        {.member = "mpi_replica_specs",
         .text = "The replicas by type: one Launcher, and Worker.",
         .required = true},
        {.member = "slots_per_worker", .text = "Ranks per worker; 1 if unset.", .minimum = 1},
        {.member = "mpi_implementation",
         .text = "Whose variables and hostfile: OpenMPI (default), Intel or MPICH.",
         .values = {"", "OpenMPI", "Intel", "MPICH"}},
        {.member = "run_launcher_as_worker", .text = "Ranks run in the launcher, too."},
        {.member = "ssh_auth_mount_path",
         .text = "Where the containers have the key for ssh; /root/.ssh if unset."},
        {.member = "launcher_creation_policy",
         .text = "When the launcher is made: WaitForWorkersReady (default) or AtStartup.",
         .values = {"", "AtStartup", "WaitForWorkersReady"}},
        {.member = "main_container",
         .text = "The container of a worker that kubectl enters; the first if unset."},
        {.member = "dialect",
         .text = "Whose conventions hold: v2beta1 (ssh) or v1 (kubectl exec); by default those of "
                 "the version that the job is written in.",
         .values = {std::string(kMpiV1), std::string(kMpiV2)}},
        {.member = "clean_pod_policy",
         .text = "Deprecated: use spec.runPolicy.cleanPodPolicy.",
         .values = {"", "None", "Running", "All"}},
        {.member = "backoff_limit",
         .text = "Deprecated: use spec.runPolicy.backoffLimit.",
         .minimum = 0},
        {.member = "active_deadline_seconds",
         .text = "Deprecated: use spec.runPolicy.activeDeadlineSeconds.",
         .minimum = 0},
        {.member = "mpi_distribution",
         .text = "Deprecated: use spec.mpiImplementation.",
         .values = {"", "OpenMPI", "IntelMPI", "MPICH"}},
    };
}

namespace {

constexpr std::int32_t kBackoffLimit = 6;  ///< of the batch Job that was v2beta1's launcher
const std::string kLauncherName(kMpiLauncher);

/// A GPU in its limits means that the launcher computes too (v1).
bool has_gpu(const ReplicaSpec& launcher) {
    for (const kube::Container& container : launcher.template_.spec.containers)
        for (const auto& [name, quantity] : container.resources.limits)
            if (name.find("gpu") != std::string::npos) return true;
    return false;
}

MpiImplementation implementation_of(std::string_view name) {
    if (name == "Intel" || name == "IntelMPI") return MpiImplementation::kIntel;
    return name == "MPICH" ? MpiImplementation::kMpich : MpiImplementation::kOpenMpi;
}

/// Only there the nodes' files are known.
bool is_on_one_machine(const Job& job) { return !job.platform.node_program.empty(); }

/// Fields that older versions had beside the run policy count if the run policy lacks them. The
/// spec keeps the run policy as it was written.
void take_from_above(Job& job) {
    auto& spec = spec_of<MpiJobSpec>(job);
    RunPolicy& policy = job.run_policy;
    spec.run_policy = policy;
    if (policy.clean_pod_policy.empty() &&
        std::ranges::find(clean_pod_policies(), spec.clean_pod_policy) !=
            clean_pod_policies().end())
        policy.clean_pod_policy = spec.clean_pod_policy;
    if (!policy.backoff_limit) policy.backoff_limit = spec.backoff_limit;
    if (!policy.active_deadline_seconds)
        policy.active_deadline_seconds = spec.active_deadline_seconds;
}

void set_defaults(Job& job) {
    auto& spec = spec_of<MpiJobSpec>(job);
    const bool second = !has_first_dialect(job);
    if (!spec.slots_per_worker) spec.slots_per_worker = 1;
    if (!spec.run_launcher_as_worker) {
        const ReplicaSpec* launcher = job.replica(kLauncherName);
        spec.run_launcher_as_worker = !second && launcher != nullptr && has_gpu(*launcher);
    }
    if (second && spec.ssh_auth_mount_path.empty()) spec.ssh_auth_mount_path = "/root/.ssh";
    if (second && !job.run_policy.backoff_limit) job.run_policy.backoff_limit = kBackoffLimit;
}

std::string first_of(const Job& job, const std::string& type) {
    const bool waits = spec_of<MpiJobSpec>(job).launcher_creation_policy != "AtStartup";
    return waits && type == kMpiLauncher ? std::string(kMpiWorker) : std::string();
}

JobKind mpijob_in(std::string version, std::string_view dialect) {
    const bool second = dialect == kMpiV2;
    JobKind kind;
    kind.resource = {.group = "kubeflow.org",
                     .version = std::move(version),
                     .plural = "mpijobs",
                     .kind = "MPIJob"};
    kind.version_field = "dialect";
    kind.version_mark = dialect;
    kind.replicas_field = "mpiReplicaSpecs";
    const std::vector<std::string> policies =
        second ? std::vector<std::string>{"Never", "OnFailure"} : std::vector<std::string>{};
    kind.replica_types = {
        {.name = kLauncherName,
         .only_replicas = 1,
         .required = true,
         .numbered = false,
         .default_restart_policy = second ? "OnFailure" : "",
         .restart_policies = policies,
         .had_batch_job = second},
        // mpirun ends when one of its daemons does, and ranks that ran can't rejoin it.
        {.name = std::string(kMpiWorker),
         .default_replicas = 0,
         .restart_policies = policies,
         .restarts_all = true}};
    kind.default_restart_policy = "Never";
    kind.services = false;
    kind.replaces_failed_pods = second;
    kind.labels_ranks = true;
    kind.env_target = EnvTarget::kDefaultContainer;
    if (second) kind.own_controller_name = "mpi-operator";
    kind.owned_types = mpi_owned_types(!second);
    kind.own_operator = "kubeflow.org/mpi-operator";
    bind_spec(kind, &MpiJobSpec::mpi_replica_specs);
    kind.decode_spec = [decode = std::move(kind.decode_spec)](const json::value& value, Job& job,
                                                              std::vector<Cause>& problems) {
        decode(value, job, problems);
        take_from_above(job);
    };
    kind.own_defaults = set_defaults;
    kind.own_rules = mpi_rules;
    kind.own_admission_rules = mpi_admission_rules(second);
    kind.own_warnings = mpi_warnings;
    kind.environment = mpi_environment;
    kind.has_master_role = [](const Job& job, const ReplicaId& replica) {
        return has_first_dialect(job) && replica.type == kMpiLauncher;
    };
    kind.finish_pod = finish_mpi_pod;
    kind.owned_objects = mpi_owned_objects;
    kind.starts_after = first_of;
    kind.success_policy = [](const Job&) {
        return SuccessPolicy{.type = 0, .with_namespace = true};
    };
    return kind;
}

}  // namespace

bool has_first_dialect(const Job& job) {
    const std::string& written = spec_of<MpiJobSpec>(job).dialect;
    return (written.empty() ? job.kind->version_mark : written) != kMpiV2;
}

const kube::Container* entered_container(const Job& job) {
    const ReplicaSpec* worker = job.replica(std::string(kMpiWorker));
    if (worker == nullptr || worker->template_.spec.containers.empty()) return nullptr;
    const std::vector<kube::Container>& all = worker->template_.spec.containers;
    const auto named =
        std::ranges::find(all, spec_of<MpiJobSpec>(job).main_container, &kube::Container::name);
    return named == all.end() ? &all.front() : &*named;
}

RemoteShell shell_of(const Job& job) {
    const RemoteShell of_dialect =
        has_first_dialect(job) ? RemoteShell::kKubectl : RemoteShell::kSsh;
    const auto asked = job.metadata.annotations.find(std::string(kShellAnnotation));
    if (asked != job.metadata.annotations.end())
        return asked->second == kShellOurs ? RemoteShell::kOurs : of_dialect;
    if (!job.platform.gives_program()) return of_dialect;
    const kube::Container* const entered = entered_container(job);
    if (entered == nullptr || !has_own_command(*entered)) return RemoteShell::kOurs;
    // kubectl would need an API, which `muster run` has for no pod. Here our server needs no more
    // of a command than kubectl does: that it runs.
    const bool any_will_do = of_dialect == RemoteShell::kKubectl && is_on_one_machine(job);
    return any_will_do ? RemoteShell::kOurs : of_dialect;
}

bool serves_beside_command(const Job& job) {
    const kube::Container* const entered = entered_container(job);
    return entered != nullptr && has_own_command(*entered) &&
           !job.metadata.annotations.contains(std::string(kShellAnnotation)) &&
           shell_of(job) == RemoteShell::kOurs;
}

bool has_own_command(const kube::Container& container) {
    return kube::has_words(container.command) || kube::has_words(container.args);
}

MpiView view_of(const Job& job) {
    const auto& spec = spec_of<MpiJobSpec>(job);
    const ReplicaSpec* worker = job.replica(std::string(kMpiWorker));
    const auto hosts = job.metadata.annotations.find(std::string(kHostfileAnnotation));
    return {.job = job,
            .spec = spec,
            .first_dialect = has_first_dialect(job),
            .shell = shell_of(job),
            .implementation = implementation_of(
                spec.mpi_implementation.empty() ? spec.mpi_distribution : spec.mpi_implementation),
            .slots = spec.slots_per_worker.value_or(1),
            .launcher_is_host = spec.run_launcher_as_worker.value_or(false),
            .by_address =
                hosts != job.metadata.annotations.end() && hosts->second == kHostfileAddresses,
            .one_machine = is_on_one_machine(job),
            .workers = worker == nullptr ? 0 : worker->replicas.value_or(0)};
}

std::string MpiView::launcher_name() const { return replica_name(job, {kLauncherName, 0}); }
std::string MpiView::worker_name(std::int32_t index) const {
    return replica_name(job, {std::string(kMpiWorker), index});
}
std::string MpiView::config_name() const { return job.metadata.name + "-config"; }
std::string MpiView::key_name() const { return job.metadata.name + "-ssh"; }
std::string MpiView::token_name() const { return job.metadata.name + "-rsh"; }
std::string MpiView::program() const { return program_in_pods(job.platform); }
std::uint16_t MpiView::port() const {
    const auto written = job.metadata.annotations.find(std::string(kPortAnnotation));
    if (written == job.metadata.annotations.end()) return kShellPort;
    return net::parse_port(written->second).value_or(kShellPort);
}
std::string MpiView::role_name() const { return job.metadata.name + "-launcher"; }
bool MpiView::has_own_account() const {
    const ReplicaSpec* launcher = job.replica(kLauncherName);
    return launcher != nullptr && !launcher->template_.spec.service_account_name.empty();
}
std::string MpiView::account_name() const {
    return has_own_account() ? job.replica(kLauncherName)->template_.spec.service_account_name
                             : role_name();
}

JobKind mpijob_v2beta1() { return mpijob_in("v2beta1", kMpiV2); }
JobKind mpijob_v1() { return mpijob_in("v1", kMpiV1); }
JobKind mpijob_v1alpha2() { return mpijob_in("v1alpha2", kMpiV1); }

}  // namespace muster::jobs
