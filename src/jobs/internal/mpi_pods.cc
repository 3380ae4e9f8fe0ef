#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>

#include "jobs/internal/mpijob.h"
#include "jobs/internal/program_in_pods.h"
#include "jobs/internal/variables.h"
#include "kube/objects/pod_contract.h"

namespace muster::jobs {
namespace {

constexpr std::int32_t kReadable = 0444;
constexpr std::int32_t kExecutable = 0555;
constexpr std::int32_t kOfOwner = 0400;
constexpr std::string_view kConfigVolume = "mpi-job-config";
constexpr std::string_view kKubectlVolume = "mpi-job-kubectl";
constexpr std::string_view kKeyVolume = "ssh-auth";
constexpr std::string_view kTokenVolume = "muster-rsh";
/// Where sshd and ssh refuse keys that others can read.
constexpr std::string_view kRootsKeys = "/root/.ssh";

// The rules of variables.
constexpr std::string_view kAgentRule = "how mpirun reaches the workers: a script of the ConfigMap";
constexpr std::string_view kNamesRule = "the hostfile has full names";
constexpr std::string_view kHostsRule = "the hostfile of the ConfigMap";
constexpr std::string_view kRetryRule = "ssh tries again while a worker starts";
constexpr std::string_view kSlotsRule = "slotsPerWorker";
constexpr std::string_view kNoGpuRule = "a launcher that runs no ranks holds no GPU";

bool is_launcher(const ReplicaId& replica) { return replica.type == kMpiLauncher; }

bool sets(const Job& job, std::string_view name) {
    const ReplicaSpec* launcher = job.replica(std::string(kMpiLauncher));
    if (launcher == nullptr || launcher->template_.spec.containers.empty()) return false;
    const std::vector<kube::EnvVar>& env = launcher->template_.spec.containers.front().env;
    return std::ranges::find(env, name, &kube::EnvVar::name) != env.end();
}

std::string path_of(std::string_view file) { return fmt::format("{}/{}", kConfigDirectory, file); }

// The agent is a program that mpirun calls as `AGENT HOST COMMAND...`; another remote shell means
// another value here and another command of the workers.

void add_unless_set(const MpiView& mpi, std::string_view name, std::string value,
                    Variables& variables) {
    if (!sets(mpi.job, name)) variables.add(name, std::move(value), kAgentRule);
}

/// Hydra gives no options to an agent that it takes for rsh, and does not slow down for it.
void add_intels_agent(const MpiView& mpi, const std::string& agent, Variables& variables) {
    add_unless_set(mpi, "I_MPI_HYDRA_BOOTSTRAP", "rsh", variables);
    add_unless_set(mpi, "I_MPI_HYDRA_BOOTSTRAP_EXEC", agent, variables);
}

void add_by_kubectl(const MpiView& mpi, Variables& variables) {
    const std::string agent = path_of(kKubexec);
    const std::string hosts = path_of(kHostfile);
    if (mpi.implementation == MpiImplementation::kMpich) {
        variables.add("HYDRA_LAUNCHER_EXEC", agent, kAgentRule);
        variables.add("HYDRA_HOST_FILE", hosts, kHostsRule);
    } else if (mpi.implementation == MpiImplementation::kOpenMpi) {
        variables.add("OMPI_MCA_plm_rsh_agent", agent, kAgentRule);
        variables.add("OMPI_MCA_orte_default_hostfile", hosts, kHostsRule);
    } else {
        variables.add("I_MPI_HYDRA_HOST_FILE", hosts, kHostsRule);
    }
    // v1 has no field for the implementation in its manifests: Intel's agent is always set.
    if (mpi.implementation == MpiImplementation::kMpich) return;
    add_intels_agent(mpi, agent, variables);
}

/// An agent that the job names itself is kept.
void add_by_ours(const MpiView& mpi, Variables& variables) {
    const std::string agent = path_of(kRsh);
    const std::string hosts = path_of(kHostfile);
    const std::string slots = std::to_string(mpi.slots);
    switch (mpi.implementation) {
        case MpiImplementation::kOpenMpi:
            variables.add("OMPI_MCA_orte_keep_fqdn_hostnames", "true", kNamesRule);
            variables.add("OMPI_MCA_orte_default_hostfile", hosts, kHostsRule);
            variables.add("OMPI_MCA_orte_set_default_slots", slots, kSlotsRule);
            add_unless_set(mpi, "OMPI_MCA_plm_rsh_agent", agent, variables);
            add_unless_set(mpi, "PRTE_MCA_plm_ssh_agent", agent, variables);  // since Open MPI 5
            // If no field says which implementation it is.
            if (mpi.first_dialect) add_intels_agent(mpi, agent, variables);
            return;
        case MpiImplementation::kIntel:
            variables.add("I_MPI_HYDRA_HOST_FILE", hosts, kHostsRule);
            variables.add("I_MPI_PERHOST", slots, kSlotsRule);
            add_intels_agent(mpi, agent, variables);
            return;
        case MpiImplementation::kMpich:
            variables.add("HYDRA_HOST_FILE", hosts, kHostsRule);
            add_unless_set(mpi, "HYDRA_LAUNCHER", "rsh", variables);
            add_unless_set(mpi, "HYDRA_LAUNCHER_EXEC", agent, variables);
            return;
    }
}

void add_by_ssh(const MpiView& mpi, Variables& variables) {
    static constexpr std::string_view kTryAgain = "-o ConnectionAttempts=10";
    const std::string hosts = path_of(kHostfile);
    const std::string slots = std::to_string(mpi.slots);
    switch (mpi.implementation) {
        case MpiImplementation::kOpenMpi:
            variables.add("OMPI_MCA_orte_keep_fqdn_hostnames", "true", kNamesRule);
            variables.add("OMPI_MCA_orte_default_hostfile", hosts, kHostsRule);
            variables.add("OMPI_MCA_plm_rsh_args", std::string(kTryAgain), kRetryRule);
            variables.add("OMPI_MCA_orte_set_default_slots", slots, kSlotsRule);
            return;
        case MpiImplementation::kIntel:
            variables.add("I_MPI_HYDRA_HOST_FILE", hosts, kHostsRule);
            variables.add("I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS", std::string(kTryAgain),
                          kRetryRule);
            variables.add("I_MPI_PERHOST", slots, kSlotsRule);
            return;
        case MpiImplementation::kMpich:
            variables.add("HYDRA_HOST_FILE", hosts, kHostsRule);
            variables.add("HYDRA_LAUNCH_EXTRA_ARGS", std::string(kTryAgain), kRetryRule);
            return;
    }
}

kube::KeyToPath item(std::string_view key, std::int32_t mode) {
    return {.key = std::string(key), .path = std::string(key), .mode = mode};
}

void mount(kube::Container& container, std::string_view volume, std::string_view path) {
    container.volume_mounts.push_back({.name = std::string(volume),
                                       .mount_path = std::string(path),
                                       .sub_path = {},
                                       .read_only = {},
                                       .rest = {}});
}

void add_config(const MpiView& mpi, std::vector<kube::KeyToPath> items, kube::Pod& pod,
                kube::Container& container) {
    kube::Volume volume;
    volume.name = kConfigVolume;
    volume.config_map = kube::ConfigMapVolumeSource{
        .name = mpi.config_name(), .items = std::move(items), .default_mode = {}, .optional = {}};
    pod.spec.volumes.push_back(std::move(volume));
    mount(container, kConfigVolume, kConfigDirectory);
}

/// The container of a worker that has the name, else the first.
kube::Container& entered(const MpiView& mpi, kube::Pod& pod) {
    const auto named =
        std::ranges::find(pod.spec.containers, mpi.spec.main_container, &kube::Container::name);
    return named == pod.spec.containers.end() ? pod.spec.containers.front() : *named;
}

/// Where the launcher is a host too, it is the first: topology-aware schedulers order pods by this
/// label (mpi-operator since v0.7, newWorker and newLauncherPodTemplate; Kueue takes the offset of
/// the workers from the job). Their names count from 0 nevertheless.
void label_rank(const MpiView& mpi, const ReplicaId& replica, kube::Pod& pod) {
    if (mpi.first_dialect || !mpi.launcher_is_host) return;
    pod.metadata.labels[std::string(labels::kReplicaIndex)] =
        std::to_string(is_launcher(replica) ? 0 : replica.index + 1);
}

void run_instead(kube::Container& container, std::vector<std::string> command) {
    container.command = std::move(command);
    container.args.clear();
}

// --- ssh

void add_key(const MpiView& mpi, kube::Pod& pod) {
    const auto file = [](std::string_view key, std::string_view path) {
        return kube::KeyToPath{.key = std::string(key), .path = std::string(path), .mode = {}};
    };
    const std::string& path = mpi.spec.ssh_auth_mount_path;
    kube::Volume volume;
    volume.name = kKeyVolume;
    volume.secret = kube::SecretVolumeSource{
        .secret_name = mpi.key_name(),
        .items = {file("ssh-privatekey", "id_rsa"), file("ssh-publickey", "id_rsa.pub"),
                  file("ssh-publickey", "authorized_keys")},
        .default_mode = {},
        .optional = {}};
    // Elsewhere the user is not root, and could not read files that only root may read.
    if (path == kRootsKeys) volume.secret->default_mode = 0600;
    pod.spec.volumes.push_back(std::move(volume));
    mount(pod.spec.containers.front(), kKeyVolume, path);
}

void name_host(const MpiView& mpi, bool launcher, kube::Pod& pod) {
    pod.spec.hostname = pod.metadata.name;
    pod.spec.subdomain = mpi.job.metadata.name;
    if (pod.spec.host_network.value_or(false))
        pod.spec.rest["dnsPolicy"] = "ClusterFirstWithHostNet";
    if (launcher) return;
    // Daemons in the workers call the launcher back by its bare host name.
    json::value& dns = pod.spec.rest["dnsConfig"];
    if (!dns.is_object()) dns = json::object();
    json::value& searches = dns.get_object()["searches"];
    if (!searches.is_array()) searches = json::array();
    const std::string& domain = mpi.job.platform.cluster_domain;
    searches.get_array().emplace_back(fmt::format("{}.{}.svc.{}", mpi.job.metadata.name,
                                                  mpi.job.metadata.namespace_,
                                                  domain.empty() ? "cluster.local" : domain));
}

/// Does nothing where the manifest mounts something itself.
void mount_unless_mounted(kube::Container& container, std::string_view path,
                          std::string_view file = {}) {
    if (std::ranges::find(container.volume_mounts, path, &kube::VolumeMount::mount_path) !=
        container.volume_mounts.end())
        return;
    mount(container, kConfigVolume, path);
    container.volume_mounts.back().sub_path = file;
}

/// On one machine pods have the OpenSSH of the machine, in the place of an image that was made for
/// MPI. The ConfigMap's files also make the directory that sshd shuts itself in: it must belong to
/// root alone, and all may write to an emptyDir. Daemons in the workers may call ssh, too, to start
/// those of further workers.
void add_what_images_bring(bool launcher, kube::Container& container) {
    mount_unless_mounted(container, "/etc/ssh/ssh_config.d/10-muster.conf", kSshConfig);
    if (launcher) return;
    mount_unless_mounted(container, "/etc/ssh/sshd_config.d/10-muster.conf", kSshdConfig);
    mount_unless_mounted(container, "/run/sshd");
}

void finish_for_ssh(const MpiView& mpi, bool launcher, kube::Pod& pod) {
    kube::Container& main = pod.spec.containers.front();
    pod.metadata.labels[std::string(labels::kJobRole)] = launcher ? "launcher" : "worker";
    name_host(mpi, launcher, pod);
    add_key(mpi, pod);
    std::vector<kube::KeyToPath> items;
    if (launcher) items = {item(kHostfile, kReadable), item(kDiscoverHosts, kExecutable)};
    if (mpi.one_machine) {
        items.push_back(item(kSshConfig, kReadable));
        items.push_back(item(kSshdConfig, kReadable));
    }
    if (!items.empty()) add_config(mpi, std::move(items), pod, main);
    if (mpi.one_machine) add_what_images_bring(launcher, main);
    if (launcher) return;
    if (!has_own_command(main)) run_instead(main, {"/usr/sbin/sshd", "-De"});
}

// --- our remote shell

bool is_anothers(const json::object& rest) {
    const auto at = rest.find("securityContext");
    if (at == rest.end() || !at->value().is_object()) return false;
    const json::value* user = at->value().get_object().if_contains("runAsUser");
    return user != nullptr && user->is_int64() && user->get_int64() != 0;
}

/// Who may read the token. A user other than root would not own the file, which only the pod can
/// see.
std::int32_t token_mode(const kube::Pod& pod, const kube::Container& container) {
    return is_anothers(pod.spec.rest) || is_anothers(container.rest) ? kReadable : kOfOwner;
}

void add_token(const MpiView& mpi, kube::Pod& pod, kube::Container& container) {
    kube::Volume volume;
    volume.name = kTokenVolume;
    volume.secret = kube::SecretVolumeSource{.secret_name = mpi.token_name(),
                                             .items = {item(kToken, token_mode(pod, container))},
                                             .default_mode = {},
                                             .optional = {}};
    pod.spec.volumes.push_back(std::move(volume));
    mount(container, kTokenVolume, kTokenDirectory);
}

std::vector<std::string> server_command(const MpiView& mpi) {
    return {mpi.program(),
            "rsh",
            "--serve",
            "--token-file",
            fmt::format("{}/{}", kTokenDirectory, kToken),
            "--port",
            std::to_string(mpi.port())};
}

/// The command stays the container's process, and when it ends the node ends the server.
void serve_beside(const MpiView& mpi, kube::Container& container) {
    std::vector<std::string> command = {
        "/bin/sh", "-c", fmt::format("{} & exec \"$@\"", fmt::join(server_command(mpi), " ")),
        "sh"};
    command.insert(command.end(), container.command.begin(), container.command.end());
    container.command = std::move(command);
}

/// Daemons in the workers may call the agent too, to start those of further workers.
void finish_for_ours(const MpiView& mpi, bool launcher, kube::Pod& pod) {
    if (!mpi.first_dialect)
        pod.metadata.labels[std::string(labels::kJobRole)] = launcher ? "launcher" : "worker";
    name_host(mpi, launcher, pod);
    kube::Container& main = launcher ? pod.spec.containers.front() : entered(mpi, pod);
    add_program(mpi.job.platform, pod, main);
    add_token(mpi, pod, main);
    std::vector<kube::KeyToPath> items = {item(kRsh, kExecutable)};
    if (launcher) {
        items.push_back(item(kHostfile, kReadable));
        items.push_back(item(kDiscoverHosts, kExecutable));
    }
    add_config(mpi, std::move(items), pod, main);
    if (launcher) return;
    if (!has_own_command(main))
        run_instead(main, server_command(mpi));
    else if (serves_beside_command(mpi.job))
        serve_beside(mpi, main);
}

// --- kubectl

void add_delivery(const MpiView& mpi, const std::string& image, kube::Pod& pod) {
    static const kube::ResourceList kEnough{
        {"cpu", "100m"}, {"memory", "512Mi"}, {"ephemeral-storage", "5Gi"}};
    kube::Volume volume;
    volume.name = kKubectlVolume;
    volume.empty_dir.emplace();
    pod.spec.volumes.push_back(std::move(volume));
    mount(pod.spec.containers.front(), kKubectlVolume, kKubectlDirectory);

    kube::Container container;
    container.name = "kubectl-delivery";
    container.image = image;
    container.rest["imagePullPolicy"] = "IfNotPresent";
    Variables variables;
    variables.add("TARGET_DIR", std::string(kKubectlDirectory));
    variables.add("NAMESPACE", mpi.job.metadata.namespace_);
    container.env = variables.take_without_rules();
    container.resources.limits = container.resources.requests = kEnough;
    mount(container, kKubectlVolume, kKubectlDirectory);
    mount(container, kConfigVolume, kConfigDirectory);
    pod.spec.init_containers.push_back(std::move(container));
}

void finish_for_kubectl(const MpiView& mpi, bool launcher, kube::Pod& pod) {
    kube::Container& main = pod.spec.containers.front();
    if (!launcher) {
        // Open MPI looks for the agent on every host before it starts anything.
        add_config(mpi, {item(kKubexec, kExecutable)}, pod, main);
        if (kube::has_words(main.command)) return;
        main.command = {"sleep"};
        main.args = {"365d"};
        return;
    }
    pod.spec.service_account_name = mpi.account_name();
    add_config(mpi,
               {item(kKubexec, kExecutable), item(kHostfile, kReadable),
                item(kDiscoverHosts, kExecutable)},
               pod, main);
    const auto& annotations = mpi.job.metadata.annotations;
    if (const auto image = annotations.find(std::string(kDeliveryAnnotation));
        image != annotations.end() && !image->second.empty())
        add_delivery(mpi, image->second, pod);
}

std::string_view name_of(MpiImplementation implementation) {
    switch (implementation) {
        case MpiImplementation::kIntel:
            return "Intel";
        case MpiImplementation::kMpich:
            return "MPICH";
        case MpiImplementation::kOpenMpi:
            break;
    }
    return "OpenMPI";
}

/// An mpirun of another implementation than the job's does not read its hostfile, starts all ranks
/// in the launcher, and may well succeed.
void expect_calls(const MpiView& mpi, kube::Pod& pod) {
    static constexpr std::string_view kVolume = "muster-calls";
    if (!mpi.one_machine || mpi.shell == RemoteShell::kSsh || mpi.workers == 0 ||
        mpi.launcher_is_host)
        return;
    kube::Volume volume;
    volume.name = kVolume;
    volume.empty_dir.emplace();
    pod.spec.volumes.push_back(std::move(volume));
    mount(pod.spec.containers.front(), kVolume, kCallsDirectory);
    pod.metadata.annotations[std::string(kube::kExpectedFileAnnotation)] = fmt::format(
        "{}/{} NoWorkerCalled the launcher ended and called no worker: an mpirun that does not "
        "read the job's hostfile starts all ranks in the launcher. spec.mpiImplementation is {}; "
        "if the mpirun is another, write OpenMPI, Intel or MPICH",
        kVolume, kCalled, name_of(mpi.implementation));
}

}  // namespace

Result<std::vector<Variable>> mpi_environment(const Job& job, const ReplicaId& replica) {
    const MpiView mpi = view_of(job);
    Variables variables;
    if (!mpi.first_dialect)
        variables.add("K_MPI_JOB_ROLE", is_launcher(replica) ? "launcher" : "worker",
                      "the replica type");
    if (!is_launcher(replica)) return variables.take();
    switch (mpi.shell) {
        case RemoteShell::kSsh:
            add_by_ssh(mpi, variables);
            break;
        case RemoteShell::kKubectl:
            add_by_kubectl(mpi, variables);
            break;
        case RemoteShell::kOurs:
            add_by_ours(mpi, variables);
            break;
    }
    // A launcher that only launches holds no GPU.
    if (!mpi.launcher_is_host) {
        variables.add("NVIDIA_VISIBLE_DEVICES", "", kNoGpuRule);
        variables.add("NVIDIA_DRIVER_CAPABILITIES", "", kNoGpuRule);
    }
    return variables.take();
}

void finish_mpi_pod(const Job& job, const ReplicaId& replica, kube::Pod& pod) {
    // A job without containers is refused; a caller that asks for its pod anyway gets it as it is.
    if (pod.spec.containers.empty()) return;
    const MpiView mpi = view_of(job);
    label_rank(mpi, replica, pod);
    if (is_launcher(replica)) expect_calls(mpi, pod);
    switch (mpi.shell) {
        case RemoteShell::kSsh:
            return finish_for_ssh(mpi, is_launcher(replica), pod);
        case RemoteShell::kKubectl:
            return finish_for_kubectl(mpi, is_launcher(replica), pod);
        case RemoteShell::kOurs:
            return finish_for_ours(mpi, is_launcher(replica), pod);
    }
}

}  // namespace muster::jobs
