#include "cli/internal/prepare/machine_check.h"

#include <gmock/gmock.h>

#include <map>
#include <set>

#include "manifest/job_lines_fixture.h"

namespace muster::cli::machine_check_test {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;
using FileKind = control_plane::Machine::FileKind;

class FakeMachine final : public control_plane::Machine {
  public:
    std::map<std::string, FileKind> files{{"/bin/train", FileKind::kProgram},
                                          {"/home", FileKind::kDirectory}};
    std::map<std::string, std::string> first_lines;

    FileKind kind_of(const std::string& path) const override {
        auto it = files.find(path);
        return it == files.end() ? FileKind::kMissing : it->second;
    }
    std::set<std::string> closed;  // directories

    bool may_enter(const std::string& directory) const override {
        return !closed.contains(directory);
    }
    std::string first_line(const std::string& path) const override {
        auto it = first_lines.find(path);
        return it == first_lines.end() ? std::string() : it->second;
    }
    double cpus() const override { return 2; }
    std::uint64_t memory_bytes() const override { return 1ULL << 30; }
    runtime::Devices devices() const override { return {{"amd.com/gpu", {"0", "1"}}}; }
    runtime::NativeResources other_resources() const override {
        return {{"ephemeral-storage", kube::Quantity::from_units(1000)},
                {"hugepages-2Mi", kube::Quantity()}};
    }
    std::string own_program() const override { return "/bin/muster"; }
};

class MachineCheck : public testing::Test {
  public:
    std::vector<std::string> check(
        const std::vector<std::pair<std::string, std::string>>& changes) {
        manifest::Manifest manifest =
            manifest::read_manifest(manifest::job_with(changes), "j.yaml");
        manifest::CheckResult checked =
            manifest::check_documents(std::move(manifest.documents), {});
        EXPECT_THAT(checked.problems, IsEmpty());
        std::vector<std::string> lines;
        const MachineProblems found = check_machine(checked.objects, machine, around);
        with_own_tmp.clear();
        for (const manifest::Problem& problem : found.with_own_tmp)
            with_own_tmp.push_back(format(problem));
        for (const manifest::Problem& problem : found.always) {
            std::string line = format(problem);
            std::size_t at = line.find("containers[0]");
            lines.push_back(line.substr(at == std::string::npos ? 0 : at));
        }
        return lines;
    }
    std::vector<std::string> command(const std::string& words) {
        return check({{"            command: [train]", "            command: " + words}});
    }

    /// An MPIJob whose workers have no command; `program`: of the remote shell, if there is one.
    std::vector<std::string> check_mpi_job(const std::string& program) {
        const std::string text = R"(apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {name: ring}
spec:
  mpiReplicaSpecs:
    Launcher: {template: {spec: {containers: [{name: mpi, image: x, command: [train]}]}}}
    Worker: {replicas: 2, template: {spec: {containers: [{name: mpi, image: x}]}}}
)";
        manifest::CheckResult checked =
            manifest::check_documents(manifest::read_manifest(text, "j.yaml").documents,
                                      {.platform = {.node_program = program}});
        EXPECT_THAT(checked.problems, IsEmpty());
        std::vector<std::string> lines;
        for (const manifest::Problem& problem :
             check_machine(checked.objects, machine, around).always)
            lines.push_back(format(problem));
        return lines;
    }

    FakeMachine machine;
    std::vector<std::string> with_own_tmp;  // of the last check()
    Surroundings around{"/home", "/bin:/usr/bin", {}};
};

TEST_F(MachineCheck, WhatIsHerePasses) {
    machine.files["/home/train.py"] = FileKind::kFile;
    machine.files["/usr/bin/python3"] = FileKind::kProgram;
    EXPECT_THAT(check({}), IsEmpty());
    EXPECT_THAT(command("[python3, -u, train.py]"), IsEmpty());
    EXPECT_THAT(command("[python3, -m, anything]"), IsEmpty());
    EXPECT_THAT(command("[/bin/train]"), IsEmpty());
    EXPECT_THAT(command("[\"$(PROGRAM)\"]"), IsEmpty());
    EXPECT_THAT(command("[/tmp/made/later]"), IsEmpty()) << "a pod's /tmp is its own";
}

TEST_F(MachineCheck, WhatOnlyTheMachinesTmpHasIsNotInAPod) {
    machine.files["/tmp/x/train"] = FileKind::kProgram;
    machine.files["/tmp/x/train.py"] = FileKind::kFile;
    machine.files["/usr/bin/python3"] = FileKind::kProgram;
    const auto hint = HasSubstr(
        "a /tmp of its own and does not see it; move it elsewhere, or show "
        "its directory with --mount /tmp/x=/tmp/x");
    EXPECT_THAT(command("[/tmp/x/train]"), IsEmpty());
    EXPECT_THAT(with_own_tmp, ElementsAre(AllOf(HasSubstr("error"), hint)));
    EXPECT_THAT(command("[python3, -u, /tmp/x/train.py]"), IsEmpty());
    EXPECT_THAT(with_own_tmp, ElementsAre(AllOf(HasSubstr("command[2]"), hint)));
    EXPECT_THAT(command("[/tmp/made/later]"), IsEmpty());
    EXPECT_THAT(with_own_tmp, IsEmpty());
    around.mounts = {{"/tmp/x", "/tmp/x"}};
    command("[/tmp/x/train]");
    EXPECT_THAT(with_own_tmp, IsEmpty());
    around = {"/tmp/x", "/bin", {}};
    command("[/tmp/x/train]");
    EXPECT_THAT(with_own_tmp, IsEmpty()) << "the caller's directory is shown";
}

TEST_F(MachineCheck, AnotherContainerOfThePodMayMakeWhatIsInTmp) {
    machine.files["/tmp/x/train"] = FileKind::kProgram;
    check({{"            command: [train]", "            command: [/tmp/x/train]"},
           {"          containers:",
            "          initContainers: [{name: i, image: x, command: [train]}]\n          "
            "containers:"}});
    EXPECT_THAT(with_own_tmp, IsEmpty());
}

TEST_F(MachineCheck, AnEnvironmentInTmpIsNotTheOneOfPods) {
    machine.files["/tmp/venv/bin/python3"] = FileKind::kProgram;
    around.path = "/tmp/venv/bin:/usr/bin";
    command("[python3, -m, x]");
    EXPECT_THAT(with_own_tmp,
                ElementsAre(AllOf(HasSubstr("error"), HasSubstr("and does not find it; show the "
                                                                "directory with --mount "
                                                                "/tmp/venv=/tmp/venv"))));
    machine.files["/usr/bin/python3"] = FileKind::kProgram;
    command("[python3, -m, x]");
    EXPECT_THAT(with_own_tmp,
                ElementsAre(AllOf(HasSubstr("warning"), HasSubstr("and runs /usr/bin/python3"))));
    around.path = "/usr/bin:/tmp/venv/bin";
    command("[python3, -m, x]");
    EXPECT_THAT(with_own_tmp, IsEmpty());
}

TEST_F(MachineCheck, WhatPodsSeeOfTmpIsTheirs) {
    machine.files["/tmp/venv/bin/python3"] = FileKind::kProgram;
    around.path = "/tmp/venv/bin:/usr/bin";
    around.kept_below_tmp = {"/tmp/venv"};
    command("[python3, -m, x]");
    EXPECT_THAT(with_own_tmp, IsEmpty());
}

TEST_F(MachineCheck, WorkersThatGetOurRemoteShellNeedNoSshd) {
    EXPECT_THAT(check_mpi_job("/bin/muster"), IsEmpty());
    EXPECT_THAT(check_mpi_job(""), ElementsAre(HasSubstr("/usr/sbin/sshd does not exist on this "
                                                         "machine; install OpenSSH's server")));
    EXPECT_THAT(command("[/usr/sbin/sshd, -De]"),
                ElementsAre(AllOf(HasSubstr("install OpenSSH's server, or leave this command out"),
                                  Not(HasSubstr("--mount")))));
}

TEST_F(MachineCheck, ArgsWithoutACommandAreTakenForOne) {
    machine.files["/usr/bin/python3"] = FileKind::kProgram;
    const auto args = [this](const std::string& words) {
        return check({{"            command: [train]", "            args: " + words}});
    };
    const auto told = StartsWith("containers[0].args: this container has no command");
    EXPECT_THAT(args("[python3, -m, x]"), ElementsAre(told));
    EXPECT_THAT(args("[--epochs, \"3\"]"),
                ElementsAre(AllOf(StartsWith("containers[0]: this container has no command"),
                                  HasSubstr("its args (--epochs ...); write the program as "
                                            "command: [...]"))));
    EXPECT_THAT(args("[python3, main.py]"),
                ElementsAre(told, HasSubstr("args[1]: main.py does not exist in /home")));
}

TEST_F(MachineCheck, SaysWhatToDoAboutWhatIsMissing) {
    machine.files["/usr/bin/python3"] = FileKind::kProgram;
    machine.files["/home/plain"] = FileKind::kFile;
    EXPECT_THAT(check({{"            command: [train]", "            args: []"}}),
                ElementsAre(HasSubstr(
                    "containers[0]: this container has no command, and no image is pulled here "
                    "(x)")));
    EXPECT_THAT(
        command("[nothing]"),
        ElementsAre(HasSubstr(
            "command[0]: the program \"nothing\" is not found along PATH (/bin:/usr/bin)")));
    EXPECT_THAT(
        command("[/opt/tool]"),
        ElementsAre(HasSubstr("command[0]: the program /opt/tool does not exist on this machine; "
                              "images are not pulled, so say where it is with --mount /opt=DIR")));
    EXPECT_THAT(command("[./tool]"),
                ElementsAre(HasSubstr("the program /home/tool does not exist on this machine; "
                                      "start where it is, with --workdir DIR")));
    EXPECT_THAT(command("[./plain]"),
                ElementsAre(HasSubstr("/home/plain is not executable; chmod +x it")));
    EXPECT_THAT(
        command("[python3, /opt/app/main.py]"),
        ElementsAre(HasSubstr("command[1]: /opt/app/main.py does not exist on this machine; images "
                              "are not pulled, so say where it is with --mount /opt/app=DIR")));
    EXPECT_THAT(
        command("[python3, main.py]"),
        ElementsAre(HasSubstr(
            "command[1]: main.py does not exist in /home; start where it is, with --workdir DIR")));
    EXPECT_THAT(check({{"            resources: {requests: {cpu: 1}}",
                        "            workingDir: /workspace"}}),
                ElementsAre(HasSubstr("workingDir: /workspace does not exist on this machine")));
    EXPECT_THAT(check({{"            resources: {requests: {cpu: 1}}",
                        "            resources: {limits: {nvidia.com/gpu: 1}}"}}),
                ElementsAre(HasSubstr(
                    "resources.limits[nvidia.com/gpu]: this machine has no \"nvidia.com/gpu\"; to "
                    "run without it, use --ignore-resources nvidia.com/gpu")));
    const auto asks_for = [&](const std::string& resources) {
        return check({{"            resources: {requests: {cpu: 1}}",
                       "            resources: {limits: {" + resources + "}}"}});
    };
    EXPECT_THAT(asks_for("ephemeral-storage: 1k, cpu: 64, memory: 1Ti"), IsEmpty());
    EXPECT_THAT(
        asks_for("ephemeral-storage: 1001"),
        ElementsAre(HasSubstr("limits[ephemeral-storage]: it asks for 1001 and this machine "
                              "has 1k in all")));
    EXPECT_THAT(asks_for("hugepages-2Mi: 2Mi, memory: 1Gi"),
                ElementsAre(HasSubstr("it asks for 2Mi and this machine has 0 in all")));
    EXPECT_THAT(asks_for("hugepages-1Gi: 1Gi, memory: 1Gi"),
                ElementsAre(HasSubstr("this machine has no \"hugepages-1Gi\"")));
    EXPECT_THAT(check({{"            resources: {requests: {cpu: 1}}",
                        "            resources: {limits: {amd.com/gpu: 2}}"}}),
                IsEmpty());
    EXPECT_THAT(check({{"            resources: {requests: {cpu: 1}}",
                        "            resources: {limits: {amd.com/gpu: 3}}"}}),
                ElementsAre(HasSubstr(
                    "resources.limits[amd.com/gpu]: it asks for 3 and this machine has 2 in all")));
}

TEST_F(MachineCheck, VolumesThatANodeWouldWaitForInVain) {
    const auto volumes = [this](const std::string& list) {
        return check({{"            resources: {requests: {cpu: 1}}",
                       "            resources: {requests: {cpu: 1}}\n          volumes: " + list}});
    };
    EXPECT_THAT(volumes("[{name: a}, {name: b, emptyDir: {}}, {name: c, configMap: {name: x}}, "
                        "{name: d, secret: {secretName: x}}, {name: e, downwardAPI: {}}, "
                        "{name: f, projected: {sources: []}}, {name: g, hostPath: {path: /home}}]"),
                IsEmpty());
    EXPECT_THAT(volumes("[{name: data, persistentVolumeClaim: {claimName: logs}}]"), IsEmpty());
    EXPECT_THAT(volumes("[{name: a, emptyDir: {}}, {name: data, nfs: {server: far, path: /}}]"),
                ElementsAre(AllOf(HasSubstr(".volumes[1].nfs: "),
                                  HasSubstr("a single machine has no volumes of this type; use "
                                            "emptyDir or hostPath instead"))));
}

TEST_F(MachineCheck, WhatTheNodeWouldRefuseAgainAndAgain) {
    const std::string old = "            resources: {requests: {cpu: 1}}";
    const auto container = [&](const std::string& line) {
        return check({{old, old + "\n            " + line}});
    };
    const auto pod = [&](const std::string& line) {
        return check({{old, old + "\n          " + line}});
    };
    EXPECT_THAT(container("livenessProbe: {exec: {command: [\"true\"]}}"), IsEmpty());
    EXPECT_THAT(container("livenessProbe: {grpc: {port: 80}}"),
                ElementsAre(AllOf(HasSubstr("containers[0]: "), HasSubstr("livenessProbe.grpc"))));
    EXPECT_THAT(container("securityContext: {capabilities: {add: [NONSENSE]}}"),
                ElementsAre(AllOf(HasSubstr("containers[0].securityContext: "),
                                  HasSubstr("unknown capability \"NONSENSE\""))));
    EXPECT_THAT(pod("securityContext: {sysctls: [{name: vm.swappiness, value: \"1\"}]}"),
                ElementsAre(AllOf(HasSubstr("template.spec.securityContext: "),
                                  HasSubstr("vm.swappiness"))));
    EXPECT_THAT(
        pod("volumes: [{name: v, projected: {sources: [{clusterTrustBundle: {path: x}}]}}]"),
        ElementsAre(AllOf(HasSubstr(".projected.sources[0].clusterTrustBundle: "),
                          HasSubstr("no source of this type"))));
}

TEST_F(MachineCheck, PlacesOfVolumesThatTheCallerMayNotEnter) {
    machine.files["/root"] = FileKind::kDirectory;
    machine.files["/opt"] = FileKind::kDirectory;
    const auto mounts = [this](const std::string& list) {
        return check({{"            command: [train]",
                       "            command: [train]\n            volumeMounts: " + list},
                      {"            resources: {requests: {cpu: 1}}",
                       "          volumes: [{name: d, emptyDir: {}}, {name: k, emptyDir: {}}]"}});
    };
    const std::string keys = "[{name: d, mountPath: /opt/d}, {name: k, mountPath: /root/keys/}]";
    EXPECT_THAT(mounts(keys), IsEmpty());
    machine.closed = {"/root"};
    EXPECT_THAT(
        mounts(keys),
        ElementsAre("containers[0].volumeMounts[1].mountPath: volume \"k\" can't be mounted "
                    "at /root/keys: you may not enter /root; mount it elsewhere, or start "
                    "as root"));
    EXPECT_THAT(mounts("[{name: d, mountPath: /root}]"), IsEmpty()) << "nobody enters the old one";
    EXPECT_THAT(mounts("[{name: d, mountPath: /root}, {name: k, mountPath: /root/keys}]"),
                IsEmpty());
    EXPECT_THAT(mounts("[{name: d, mountPath: /made/root/keys}]"), IsEmpty());
    around.mounts = {{"/root", "/home"}};
    EXPECT_THAT(mounts(keys), IsEmpty());
}

TEST_F(MachineCheck, PlacesThatAKindMountsAt) {
    machine.files["/root"] = FileKind::kDirectory;
    machine.files["/usr/sbin/sshd"] = FileKind::kProgram;
    machine.closed = {"/root"};
    const std::vector<std::string> lines = check_mpi_job("");
    EXPECT_THAT(lines, Each(HasSubstr("volume \"ssh-auth\" can't be mounted at /root/.ssh: you may "
                                      "not enter /root; choose another place (of an MPIJob's key: "
                                      "spec.sshAuthMountPath), or start as root")));
    EXPECT_THAT(lines, SizeIs(2));
}

TEST_F(MachineCheck, InterpretersOfScripts) {
    machine.first_lines["/bin/train"] = "#!/opt/python";
    EXPECT_THAT(command("[train]"),
                ElementsAre(HasSubstr(
                    "/bin/train wants the interpreter /opt/python, which does not exist")));
    machine.first_lines["/bin/train"] = "#!/usr/bin/env python9";
    machine.files["/usr/bin/env"] = FileKind::kProgram;
    EXPECT_THAT(
        command("[train]"),
        ElementsAre(HasSubstr("wants the interpreter \"python9\", which is not found along PATH")));
    machine.files["/usr/bin/python9"] = FileKind::kProgram;
    EXPECT_THAT(command("[train]"), IsEmpty());
}

TEST_F(MachineCheck, MountsStandInForTheImage) {
    around.mounts = {{"/opt/app", "/src"}};
    machine.files["/usr/bin/python3"] = FileKind::kProgram;
    EXPECT_THAT(command("[python3, /opt/app/main.py]"), SizeIs(1));
    machine.files["/src/main.py"] = FileKind::kFile;
    EXPECT_THAT(command("[python3, /opt/app/main.py]"), IsEmpty());
}

}  // namespace
}  // namespace muster::cli::machine_check_test
