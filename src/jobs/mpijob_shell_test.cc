#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "jobs/internal/mpijob.h"
#include "jobs/internal/test_manifest.h"
#include "kube/objects/pod_contract.h"
#include "kube/values/base64.h"

// How an MPIJob's launcher reaches its workers, and what comes of it where that is `muster rsh`.

namespace muster::jobs::mpijob_shell_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::string_view kProgram = "/usr/local/bin/muster";

struct Written {
    std::string version = "v2beta1";
    std::map<std::string, std::string> annotations = {};
    std::vector<Edit> edits = {};
};

json::value manifest_of(const Written& written) {
    json::value manifest = json::parse(R"({
        "kind": "MPIJob", "metadata": {"name": "foo", "namespace": "bar", "uid": "u-1"},
        "spec": {"mpiReplicaSpecs": {
            "Launcher": {"template": {"spec": {"containers": [
                {"name": "mpi", "image": "x", "command": ["mpirun"]}]}}},
            "Worker": {"replicas": 2, "template": {"spec": {"containers": [
                {"name": "mpi", "image": "x"}, {"name": "side", "image": "y"}]}}}}}})");
    manifest.as_object()["apiVersion"] = fmt::format("kubeflow.org/{}", written.version);
    for (const Edit& edit : written.edits) apply_edit(manifest, edit.path, edit.value);
    json::object& annotations = manifest.at("metadata").as_object()["annotations"].emplace_object();
    for (const auto& [name, value] : written.annotations) annotations[name] = value;
    return manifest;
}

const JobKind& kind_of(const Written& written) {
    return *find_kind(fmt::format("kubeflow.org/{}", written.version), "MPIJob");
}

/// Where this program is on the nodes, unless told otherwise.
Job job_at(const Written& written, Platform platform) {
    auto job = load(kind_of(written), manifest_of(written), std::move(platform));
    EXPECT_TRUE(job.has_value()) << job.error().message();
    return *std::move(job);
}

Job job_of(const Written& written, std::string_view node_program = kProgram) {
    return job_at(written, {.node_program = std::string(node_program)});
}

const std::string kWorker = "spec/mpiReplicaSpecs/Worker/template/spec/containers/0/";
const std::string kLauncher = "spec/mpiReplicaSpecs/Launcher/template/spec/";
const Edit kSshd{kWorker + "command", R"(["/usr/sbin/sshd", "-De"])"};
const Edit kSleep{kWorker + "command", R"(["sleep", "infinity"])"};
const Edit kEmptyWord{kWorker + "command", R"([""])"};
const std::string kShell(kShellAnnotation);

TEST(MpiShell, IsOursWhereItCanBe) {
    struct Row {
        std::string name;
        Written written;
        std::string_view program;
        RemoteShell shell;
    };
    using enum RemoteShell;
    for (const Row& row : std::vector<Row>{
             {"on one machine", {}, kProgram, kOurs},
             {"and in v1", {"v1"}, kProgram, kOurs},
             {"and in v1alpha2", {"v1alpha2"}, kProgram, kOurs},
             {"on a cluster", {}, "", kSsh},
             {"v1 on a cluster", {"v1"}, "", kKubectl},
             {"workers that run sshd", {.edits = {kSshd}}, kProgram, kSsh},
             {"workers with args", {.edits = {{kWorker + "args", R"(["-De"])"}}}, kProgram, kSsh},
             {"v1 workers that sleep", {"v1", {}, {kSleep}}, kProgram, kOurs},
             {"and in v1alpha2", {"v1alpha2", {}, {kSleep}}, kProgram, kOurs},
             {"v1 workers that sleep on a cluster", {"v1", {}, {kSleep}}, "", kKubectl},
             {"v1 workers that sleep, kubexec asked for",
              {"v1", {{kShell, "kubexec"}}, {kSleep}},
              kProgram,
              kKubectl},
             {"v2beta1 workers that sleep", {.edits = {kSleep}}, kProgram, kSsh},
             {"an empty command", {.edits = {{kWorker + "command", "[]"}}}, kProgram, kOurs},
             {"a command of an empty word", {.edits = {kEmptyWord}}, kProgram, kOurs},
             {"and in v1alpha2", {"v1alpha2", {}, {kEmptyWord}}, kProgram, kOurs},
             {"and on a cluster", {.edits = {kEmptyWord}}, "", kSsh},
             {"the main container has none",
              {"v1", {}, {kSshd, {"spec/mainContainer", R"("side")"}}},
              kProgram,
              kOurs},
             {"no workers", {.edits = {{"spec/mpiReplicaSpecs/Worker", ""}}}, kProgram, kOurs},
             {"asked for on a cluster", {.annotations = {{kShell, "rsh"}}}, "", kOurs},
             {"asked for with a command", {"v2beta1", {{kShell, "rsh"}}, {kSshd}}, kProgram, kOurs},
             {"ssh asked for", {.annotations = {{kShell, "ssh"}}}, kProgram, kSsh},
             {"kubexec asked for", {"v1", {{kShell, "kubexec"}}}, kProgram, kKubectl},
         }) {
        SCOPED_TRACE(row.name);
        EXPECT_EQ(shell_of(job_of(row.written, row.program)), row.shell);
    }
}

TEST(MpiShell, AnotherOneIsRefusedWithThoseThatThereAre) {
    struct Row {
        Written written;
        std::string field;  ///< empty: it is good
        std::string part = {};
    };
    const std::string shell = "metadata.annotations[muster.dev/remote-shell]";
    const std::string port = "metadata.annotations[muster.dev/rsh-port]";
    for (const Row& row : std::vector<Row>{
             {{"v2beta1", {{kShell, "rsh"}}}, ""},
             {{"v2beta1", {{kShell, "ssh"}}}, ""},
             {{"v1", {{kShell, "kubexec"}}}, ""},
             {{"v2beta1", {{kShell, "kubexec"}}}, shell, R"("rsh" or "ssh")"},
             {{"v1", {{kShell, "ssh"}}}, shell, R"("rsh" or "kubexec")"},
             {{"v1", {{kShell, ""}}}, shell, "can't reach"},
             {{"v1", {{"muster.dev/rsh-port", "1"}}}, ""},
             {{"v1", {{"muster.dev/rsh-port", "65535"}}}, ""},
             {{"v1", {{"muster.dev/rsh-port", "0"}}}, port, "1 to 65535"},
             {{"v1", {{"muster.dev/rsh-port", "65536"}}}, port, "1 to 65535"},
             {{"v1", {{"muster.dev/rsh-port", "7 "}}}, port, "1 to 65535"},
         }) {
        SCOPED_TRACE(testing::PrintToString(row.written.annotations));
        const auto problems = review(kind_of(row.written), manifest_of(row.written)).problems;
        ASSERT_EQ(problems.size(), row.field.empty() ? 0U : 1U);
        if (row.field.empty()) continue;
        EXPECT_EQ(problems[0].field, row.field);
        EXPECT_THAT(problems[0].message, HasSubstr(row.part));
    }
}

TEST(MpiShell, WorkersWithACommandOfTheirOwnAreDoubtful) {
    const auto fields = [](const Written& written) {
        std::vector<std::string> all;
        for (const Cause& cause : review(kind_of(written), manifest_of(written)).warnings)
            all.push_back(cause.reason + " " + cause.field);
        return all;
    };
    EXPECT_THAT(fields({.annotations = {{kShell, "rsh"}}}), IsEmpty());
    EXPECT_THAT(fields({"v2beta1", {{kShell, "rsh"}}, {kSshd}}),
                ElementsAre("Doubtful metadata.annotations[muster.dev/remote-shell]"));
    EXPECT_THAT(fields({.annotations = {{kShell, "ssh"}, {"muster.dev/rsh-port", "1"}}}),
                ElementsAre("Ineffective metadata.annotations[muster.dev/rsh-port]"));
}

/// The warning that the workers have a command which has to start our server.
auto doubtful_shell() {
    return testing::AllOf(
        testing::Field(&Cause::reason, "Doubtful"),
        testing::Field(&Cause::field, "metadata.annotations[muster.dev/remote-shell]"));
}

std::vector<std::string> agent_of(const Written& written) {
    std::vector<std::string> all;
    for (const auto& [one, rule] : mpi_environment(job_of(written), {"Launcher", 0}).value())
        if (one.name.find("MPI") != std::string::npos || one.name.starts_with("HYDRA") ||
            one.name.starts_with("PRTE"))
            all.push_back(one.name + "=" + one.value);
    return all;
}

TEST(MpiShell, TheLauncherCallsOurs) {
    EXPECT_THAT(
        agent_of({}),
        ElementsAre("K_MPI_JOB_ROLE=launcher", "OMPI_MCA_orte_keep_fqdn_hostnames=true",
                    "OMPI_MCA_orte_default_hostfile=/etc/mpi/hostfile",
                    "OMPI_MCA_orte_set_default_slots=1", "OMPI_MCA_plm_rsh_agent=/etc/mpi/rsh.sh",
                    "PRTE_MCA_plm_ssh_agent=/etc/mpi/rsh.sh"));
    EXPECT_THAT(agent_of({"v1"}), testing::IsSupersetOf({"OMPI_MCA_plm_rsh_agent=/etc/mpi/rsh.sh",
                                                         "I_MPI_HYDRA_BOOTSTRAP=rsh",
                                                         "I_MPI_HYDRA_BOOTSTRAP_EXEC=/etc/mpi/"
                                                         "rsh.sh"}));
    EXPECT_THAT(agent_of({.edits = {{"spec/mpiImplementation", R"("Intel")"}}}),
                ElementsAre("K_MPI_JOB_ROLE=launcher", "I_MPI_HYDRA_HOST_FILE=/etc/mpi/hostfile",
                            "I_MPI_PERHOST=1", "I_MPI_HYDRA_BOOTSTRAP=rsh",
                            "I_MPI_HYDRA_BOOTSTRAP_EXEC=/etc/mpi/rsh.sh"));
    EXPECT_THAT(agent_of({.edits = {{"spec/mpiImplementation", R"("MPICH")"}}}),
                ElementsAre("K_MPI_JOB_ROLE=launcher", "HYDRA_HOST_FILE=/etc/mpi/hostfile",
                            "HYDRA_LAUNCHER=rsh", "HYDRA_LAUNCHER_EXEC=/etc/mpi/rsh.sh"));
    // What the job says itself stays.
    const Edit own{kLauncher + "containers/0/env",
                   R"([{"name": "OMPI_MCA_plm_rsh_agent", "value": "mine"}])"};
    EXPECT_THAT(agent_of({.edits = {own}}), Not(Contains(HasSubstr("OMPI_MCA_plm_rsh_agent="))));
}

const kube::Volume* volume(const kube::Pod& pod, std::string_view name) {
    const auto found = std::ranges::find(pod.spec.volumes, name, &kube::Volume::name);
    return found == pod.spec.volumes.end() ? nullptr : &*found;
}

TEST(MpiShell, PodsHaveTheTokenAndTheProgram) {
    const Job job = job_of({});
    for (const ReplicaId& replica : {ReplicaId{"Launcher", 0}, ReplicaId{"Worker", 1}}) {
        const kube::Pod pod = build_pod(job, replica).value();
        SCOPED_TRACE(pod.metadata.name);
        EXPECT_EQ(pod.spec.hostname, pod.metadata.name);
        EXPECT_EQ(pod.spec.subdomain, "foo") << "the name of the Service";
        EXPECT_EQ(volume(pod, "muster")->host_path->path, kProgram);
        const auto& token = *volume(pod, "muster-rsh")->secret;
        EXPECT_EQ(token.secret_name, "foo-rsh");
        EXPECT_EQ(token.items.at(0).mode, 0400);
        std::vector<std::string> mounts;
        for (const kube::VolumeMount& mount : pod.spec.containers[0].volume_mounts)
            mounts.push_back(mount.mount_path);
        if (replica.type == "Launcher") {
            EXPECT_EQ(mounts.front(), "/etc/muster-calls");
            mounts.erase(mounts.begin());
        }
        EXPECT_THAT(mounts, ElementsAre("/opt/muster/muster", "/etc/muster-rsh", "/etc/mpi"));
    }
    EXPECT_THAT(build_pod(job, {"Worker", 1})->spec.containers[0].command,
                ElementsAre("/opt/muster/muster", "rsh", "--serve", "--token-file",
                            "/etc/muster-rsh/token", "--port", "7322"));
    EXPECT_THAT(build_pod(job, {"Launcher", 0})->spec.containers[0].command, ElementsAre("mpirun"));

    const Job remote = job_of({.annotations = {{kShell, "rsh"}}}, "");
    const kube::Pod worker = build_pod(remote, {"Worker", 0}).value();
    EXPECT_EQ(worker.spec.containers[0].command.at(0), "muster") << "of the image";
    EXPECT_EQ(volume(worker, "muster"), nullptr);
}

TEST(MpiShell, AnEmptyWordIsNoCommand) {
    const auto worker = [](const Job& job) {
        return build_pod(job, {"Worker", 0})->spec.containers.at(0);
    };
    const Edit no_words{kWorker + "args", R"([""])"};
    const kube::Container ours = worker(job_of({.edits = {kEmptyWord, no_words}}));
    EXPECT_THAT(ours.command, Contains("--serve"));
    EXPECT_THAT(ours.args, IsEmpty());
    const kube::Container by_ssh = worker(job_of({.edits = {kEmptyWord, no_words}}, ""));
    EXPECT_THAT(by_ssh.command, ElementsAre("/usr/sbin/sshd", "-De"));
    EXPECT_THAT(by_ssh.args, IsEmpty());
    const kube::Container by_kubectl = worker(job_of({"v1", {}, {kEmptyWord}}, ""));
    EXPECT_THAT(by_kubectl.command, ElementsAre("sleep"));
    EXPECT_THAT(by_kubectl.args, ElementsAre("365d"));
}

TEST(MpiShell, OnOneMachineTheServerRunsBesideACommandThatKubectlWouldEnter) {
    const Written sleeping{"v1", {}, {kSleep, {kWorker + "args", R"(["--help"])"}}};
    const kube::Container worker = build_pod(job_of(sleeping), {"Worker", 0})->spec.containers[0];
    EXPECT_THAT(worker.command,
                ElementsAre("/bin/sh", "-c",
                            "/opt/muster/muster rsh --serve --token-file /etc/muster-rsh/token "
                            "--port 7322 & exec \"$@\"",
                            "sh", "sleep", "infinity"));
    EXPECT_THAT(worker.args, ElementsAre("--help"));
    EXPECT_THAT(agent_of(sleeping), Contains("OMPI_MCA_plm_rsh_agent=/etc/mpi/rsh.sh"));
    // Where the manifest asks for our shell, its command starts the server.
    const Job asked = job_of({"v1", {{kShell, "rsh"}}, {kSleep}});
    EXPECT_THAT(build_pod(asked, {"Worker", 0})->spec.containers[0].command,
                ElementsAre("sleep", "infinity"));
    EXPECT_THAT(mpi_warnings(job_of(sleeping)), Not(Contains(doubtful_shell())));
    EXPECT_THAT(mpi_warnings(asked), Contains(doubtful_shell()));
}

TEST(MpiShell, OnOneMachineALauncherThatCallsNoWorkerIsTold) {
    const std::string expected(kube::kExpectedFileAnnotation);
    const std::string note = "[ ! -d /etc/muster-calls ] || true >/etc/muster-calls/called\n";
    const auto told = [&](const Written& written, std::string_view program) {
        const Job job = job_of(written, program);
        EXPECT_FALSE(build_pod(job, {"Worker", 0})->metadata.annotations.contains(expected));
        const std::string script = view_of(job).shell == RemoteShell::kOurs
                                       ? rsh_script(view_of(job))
                                       : kubexec(view_of(job));
        EXPECT_EQ(script.contains(note), !program.empty()) << script;
        const auto annotations = build_pod(job, {"Launcher", 0})->metadata.annotations;
        const auto found = annotations.find(expected);
        return found == annotations.end() ? std::string() : found->second;
    };
    EXPECT_THAT(told({}, kProgram),
                testing::AllOf(testing::StartsWith("muster-calls/called NoWorkerCalled "),
                               HasSubstr("spec.mpiImplementation is OpenMPI")));
    EXPECT_THAT(told({.edits = {{"spec/mpiImplementation", R"("Intel")"}}}, kProgram),
                HasSubstr("spec.mpiImplementation is Intel"));
    EXPECT_THAT(told({"v1", {{kShell, "kubexec"}}}, kProgram), HasSubstr("NoWorkerCalled"));
    // All ranks may well fit into the launcher.
    EXPECT_EQ(told({.edits = {{"spec/runLauncherAsWorker", "true"}}}, kProgram), "");
    EXPECT_EQ(told({.annotations = {{kShell, "rsh"}}}, ""), "") << "no node looks for it";
}

TEST(MpiShell, OnOneMachineOpenSshGetsTheSettingsThatImagesBring) {
    const auto mounts = [](const Job& job, const ReplicaId& replica) {
        const kube::Pod pod = build_pod(job, replica).value();
        std::vector<std::string> all;
        for (const kube::VolumeMount& mount : pod.spec.containers.at(0).volume_mounts)
            all.push_back(fmt::format("{}:{}:{}", mount.name, mount.sub_path, mount.mount_path));
        return all;
    };
    const std::string client = "mpi-job-config:ssh_config:/etc/ssh/ssh_config.d/10-muster.conf";
    const std::string server = "mpi-job-config:sshd_config:/etc/ssh/sshd_config.d/10-muster.conf";
    const Job job = job_of({.edits = {kSshd}});
    EXPECT_THAT(mounts(job, {"Launcher", 0}),
                ElementsAre("ssh-auth::/root/.ssh", "mpi-job-config::/etc/mpi", client));
    EXPECT_THAT(mounts(job, {"Worker", 1}),
                ElementsAre("ssh-auth::/root/.ssh", "mpi-job-config::/etc/mpi", client, server,
                            "mpi-job-config::/run/sshd"));
    const kube::Pod worker = build_pod(job, {"Worker", 1}).value();
    std::vector<std::string> files;
    for (const kube::KeyToPath& file : volume(worker, "mpi-job-config")->config_map->items)
        files.push_back(file.key);
    EXPECT_THAT(files, ElementsAre("ssh_config", "sshd_config"));
    for (const OwnedObject& one : mpi_owned_objects(job, {})) {
        if (one.type.kind != "ConfigMap") continue;
        EXPECT_THAT(std::string(one.content.at("data").at("ssh_config").as_string()),
                    testing::StartsWith("Host foo-launcher foo-worker-* *.foo.bar.svc\n"));
        EXPECT_EQ(one.content.at("data").at("sshd_config").as_string(), "StrictModes no\n");
    }

    const Edit own{kWorker + "volumeMounts", R"([{"name": "mine", "mountPath": "/run/sshd"}])"};
    const Edit volumes{"spec/mpiReplicaSpecs/Worker/template/spec/volumes",
                       R"([{"name": "mine", "emptyDir": {}}])"};
    EXPECT_THAT(
        mounts(job_of({.edits = {kSshd, own, volumes}}), {"Worker", 0}),
        testing::AllOf(Contains("mine::/run/sshd"), Not(Contains("mpi-job-config::/run/sshd"))));
    // An image has them.
    EXPECT_THAT(mounts(job_of({.edits = {kSshd}}, ""), {"Worker", 0}),
                ElementsAre("ssh-auth::/root/.ssh"));
}

// The whole of such pods is in golden/.
TEST(MpiShell, ClustersThatHaveOurImageGiveTheProgramToPodsThatNeedIt) {
    const Platform by_copy{.program_image = "ours:1"};
    const Platform by_volume{.program_image = "ours:1", .image_volumes = true};
    struct Row {
        std::string name;
        Written written;
        Platform platform;
        RemoteShell shell;
        std::string program;  ///< that serves; empty: none
        bool copied = false;
    };
    using enum RemoteShell;
    const std::string copy = "/opt/muster/muster";
    const std::string in_image = "/opt/muster/usr/local/bin/muster-in-pods";
    for (const Row& row : std::vector<Row>{
             {"v2beta1", {}, by_copy, kOurs, copy, true},
             {"v1", {"v1"}, by_copy, kOurs, copy, true},
             {"asked for", {.annotations = {{kShell, "rsh"}}}, by_copy, kOurs, copy, true},
             {"a volume", {}, by_volume, kOurs, in_image},
             {"the nodes have it", {}, {.node_program = "/m", .program_image = "i"}, kOurs, copy},
             {"sshd", {.edits = {kSshd}}, by_copy, kSsh, ""},
             {"ssh asked for", {.annotations = {{kShell, "ssh"}}}, by_copy, kSsh, ""},
             {"kubectl asked for", {"v1", {{kShell, "kubexec"}}}, by_copy, kKubectl, ""},
         }) {
        SCOPED_TRACE(row.name);
        const Job job = job_at(row.written, row.platform);
        EXPECT_EQ(shell_of(job), row.shell);
        for (const ReplicaId& replica : {ReplicaId{"Launcher", 0}, ReplicaId{"Worker", 1}}) {
            const kube::Pod pod = build_pod(job, replica).value();
            EXPECT_EQ(pod.spec.init_containers.size(), row.copied ? 1U : 0U);
            EXPECT_EQ(volume(pod, "muster") != nullptr, !row.program.empty());
        }
        if (row.program.empty()) continue;
        EXPECT_EQ(build_pod(job, {"Worker", 0})->spec.containers[0].command.at(0), row.program);
        EXPECT_THAT(rsh_script(view_of(job)), HasSubstr("exec " + row.program + " rsh "));
    }
}

TEST(MpiShell, TheServerRunsInTheMainContainer) {
    const Job job = job_of({"v1", {}, {kSshd, {"spec/mainContainer", R"("side")"}}});
    const kube::Pod worker = build_pod(job, {"Worker", 0}).value();
    EXPECT_EQ(worker.spec.containers[0].command.at(0), "/usr/sbin/sshd");
    EXPECT_EQ(worker.spec.containers[1].command.at(1), "rsh");
    EXPECT_THAT(worker.spec.containers[0].volume_mounts, IsEmpty());
}

TEST(MpiShell, AnotherUserMayReadTheToken) {
    const std::string worker = "spec/mpiReplicaSpecs/Worker/template/spec/";
    for (const auto& [path, value, mode] : std::vector<std::tuple<std::string, std::string, int>>{
             {worker + "securityContext", R"({"runAsUser": 1000})", 0444},
             {worker + "containers/0/securityContext", R"({"runAsUser": 1000})", 0444},
             {worker + "securityContext", R"({"runAsUser": 0})", 0400},
             {worker + "securityContext", R"({"fsGroup": 7})", 0400},
         }) {
        const kube::Pod pod = build_pod(job_of({.edits = {{path, value}}}), {"Worker", 0}).value();
        EXPECT_EQ(volume(pod, "muster-rsh")->secret->items.at(0).mode, mode) << path << value;
    }
}

TEST(MpiShell, ItsObjectsAreAServiceAScriptAndAToken) {
    std::vector<std::string> names;
    for (OwnedObject& one :
         mpi_owned_objects(job_of({"v1", {{"muster.dev/rsh-port", "99"}}, {}}), {})) {
        names.push_back(fmt::format("{} {}", one.type.kind, one.name));
        if (one.type.kind == "ConfigMap") {
            const std::string script(one.content.at("data").at("rsh.sh").as_string());
            EXPECT_THAT(script, HasSubstr("exec /opt/muster/muster rsh --token-file "
                                          "/etc/muster-rsh/token --port 99 --patience 60s \"$@\""));
        }
        if (!one.make) continue;
        json::object other = one.content;
        ASSERT_TRUE(one.make(one.content) && one.make(other));
        EXPECT_NE(one.content, other) << "each has a token of its own";
        const auto token = kube::base64_decode(one.content.at("data").at("token").as_string());
        EXPECT_EQ(token->size(), 64U);
        EXPECT_THAT(one.made_once, ElementsAre("data.token"));
    }
    EXPECT_THAT(names, ElementsAre("Service foo", "ConfigMap foo-config", "Secret foo-rsh"));
    EXPECT_EQ(hostfile(view_of(job_of({"v1"})), {}),
              "foo-worker-0.foo.bar.svc slots=1\nfoo-worker-1.foo.bar.svc slots=1\n");
    EXPECT_THAT(
        rsh_script(view_of(job_of({.edits = {{"spec/launcherCreationPolicy", R"("AtStartup")"}}}))),
        HasSubstr("--patience 10m "));
}

TEST(MpiShell, EveryVersionWatchesWhatAnyShellOfItsHas) {
    for (const std::string version : {"v1", "v1alpha2", "v2beta1"})
        for (const std::string_view program : {kProgram, std::string_view()}) {
            const Job job = job_of({version}, program);
            for (const OwnedObject& one : mpi_owned_objects(job, {}))
                EXPECT_THAT(job.kind->owned_types, Contains(one.type)) << version;
        }
}

}  // namespace
}  // namespace muster::jobs::mpijob_shell_test
