#pragma once

#include <boost/describe/class.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/kind.h"
#include "jobs/mpi_annotations.h"

namespace muster::jobs {

// MPIJob: one internal form for all of its versions. Each field means the same in all of them;
// differences between the conventions of v1 and v2beta1 follow from `dialect`.

inline constexpr std::string_view kMpiLauncher = "Launcher";
inline constexpr std::string_view kMpiWorker = "Worker";
/// The dialects, which are also versions.
inline constexpr std::string_view kMpiV1 = "v1";
inline constexpr std::string_view kMpiV2 = "v2beta1";

struct MpiJobSpec {
    RunPolicy run_policy;
    std::map<std::string, ReplicaSpec> mpi_replica_specs;
    std::optional<std::int32_t> slots_per_worker;
    std::string mpi_implementation;  ///< "OpenMPI", "Intel", "MPICH"
    std::optional<bool> run_launcher_as_worker;
    std::string ssh_auth_mount_path;
    std::string launcher_creation_policy;  ///< "AtStartup", "WaitForWorkersReady"
    std::string main_container;
    std::string dialect;  ///< "v1", "v2beta1"
    // Where older versions had these fields.
    std::string clean_pod_policy;
    std::optional<std::int32_t> backoff_limit;
    std::optional<std::int64_t> active_deadline_seconds;
    std::string mpi_distribution;  ///< "OpenMPI", "IntelMPI", "MPICH"
};
BOOST_DESCRIBE_STRUCT(MpiJobSpec, (),
                      (run_policy, mpi_replica_specs, slots_per_worker, mpi_implementation,
                       run_launcher_as_worker, ssh_auth_mount_path, launcher_creation_policy,
                       main_container, dialect, clean_pod_policy, backoff_limit,
                       active_deadline_seconds, mpi_distribution))

enum class MpiImplementation : std::uint8_t { kOpenMpi, kIntel, kMpich };
/// How a launcher reaches its workers.
enum class RemoteShell : std::uint8_t {
    kSsh,      ///< v2beta1: sshd in the workers, a key in a Secret, names by a headless Service
    kKubectl,  ///< v1: `kubectl exec` by a script, allowed by a Role
    kOurs,     ///< `muster rsh`: its server in the workers, a token in a Secret, names as for ssh
};

/// What all other code reads of a job. The view is valid as long as the job.
struct MpiView {
    const Job& job;
    const MpiJobSpec& spec;
    bool first_dialect = false;  ///< the conventions of v1 apply
    RemoteShell shell = RemoteShell::kSsh;
    MpiImplementation implementation = MpiImplementation::kOpenMpi;
    std::int32_t slots = 1;
    bool launcher_is_host = false;  ///< ranks also run in the launcher
    bool by_address = false;        ///< the hostfile has addresses of pods rather than names
    bool one_machine = false;       ///< which is the image of every pod
    std::int32_t workers = 0;

    std::string launcher_name() const;
    std::string worker_name(std::int32_t index) const;
    std::string config_name() const;   ///< of the ConfigMap
    std::string key_name() const;      ///< of the Secret with the key for ssh
    std::string token_name() const;    ///< of the Secret with the token of our remote shell
    std::string program() const;       ///< ours, as containers call it
    std::uint16_t port() const;        ///< of the servers of our remote shell
    std::string account_name() const;  ///< the launcher's ServiceAccount
    std::string role_name() const;     ///< of Role and RoleBinding
    bool has_own_account() const;      ///< the manifest names a ServiceAccount
};
MpiView view_of(const Job& job);

// The same without defaults: from the job as written.

bool has_first_dialect(const Job& job);
/// The shell that the job asks for; else ours, if possible: pods get this program, and the workers
/// have no command of their own, which would be another shell's server, or it is one that kubectl
/// would enter and this is one machine. Else the dialect's.
RemoteShell shell_of(const Job& job);
/// Whether our server runs beside the command that the workers have.
bool serves_beside_command(const Job& job);
/// Whether a manifest says what the container runs. `command: [""]`, as in the oldest published
/// manifests, says nothing.
bool has_own_command(const kube::Container& container);
/// The container of a worker's pod that the launcher enters.
const kube::Container* entered_container(const Job& job);

/// Of our remote shell, unless an annotation names another.
inline constexpr std::uint16_t kShellPort = 7322;

inline constexpr std::string_view kConfigDirectory = "/etc/mpi";
inline constexpr std::string_view kKubectlDirectory = "/opt/kube";
inline constexpr std::string_view kHostfile = "hostfile";
inline constexpr std::string_view kDiscoverHosts = "discover_hosts.sh";
inline constexpr std::string_view kKubexec = "kubexec.sh";
inline constexpr std::string_view kRsh = "rsh.sh";
inline constexpr std::string_view kSshConfig = "ssh_config";
inline constexpr std::string_view kSshdConfig = "sshd_config";
inline constexpr std::string_view kTokenDirectory = "/etc/muster-rsh";
/// Of a launcher on one machine: the remote shell makes a file there when it is called.
inline constexpr std::string_view kCallsDirectory = "/etc/muster-calls";
inline constexpr std::string_view kCalled = "called";
inline constexpr std::string_view kToken = "token";

// --- texts (mpi_hosts.cc)

/// All hosts that the spec asks for, in the format of the implementation.
std::string hostfile(const MpiView& mpi, const std::vector<SeenPod>& running);
/// A script that prints the running hosts, for Horovod's elastic driver.
std::string discover_hosts(const MpiView& mpi, const std::vector<SeenPod>& running);
/// A remote shell by `kubectl exec`: kubexec.sh POD COMMAND...
std::string kubexec(const MpiView& mpi);
/// A remote shell that calls ours: rsh.sh [OPTIONS OF SSH] HOST COMMAND...
std::string rsh_script(const MpiView& mpi);
/// What images for ssh set that a machine's own OpenSSH lacks, for its client and its server.
std::string ssh_config(const MpiView& mpi);
std::string sshd_config();
/// The largest size in bytes of the ConfigMap's texts with that many workers.
std::size_t config_bytes(const MpiView& mpi, std::int32_t workers);

// --- parts of the kind

std::vector<kube::ResourceType> mpi_owned_types(bool first_dialect);
std::vector<OwnedObject> mpi_owned_objects(const Job& job, const std::vector<SeenPod>& running);
Result<std::vector<Variable>> mpi_environment(const Job& job, const ReplicaId& replica);
void finish_mpi_pod(const Job& job, const ReplicaId& replica, kube::Pod& pod);
std::vector<Cause> mpi_rules(const Job& written);
/// Those of the rules that CEL can express, for jobs of a dialect.
std::vector<AdmissionRule> mpi_admission_rules(bool second_dialect);
std::vector<Cause> mpi_warnings(const Job& written);

}  // namespace muster::jobs
