#include "jobs/internal/agents/agent_in_pods.h"

#include <gmock/gmock.h>

#include "jobs/internal/test_kinds.h"

namespace muster::jobs::agent_in_pods_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

using Words = std::vector<std::string>;

const std::string kStart = "/opt/muster/bin/muster-start";

Platform on_cluster() {
    Platform platform;
    platform.program_image = "muster/operator:1";
    platform.cluster = true;
    return platform;
}

Platform on_node() {
    Platform platform;
    platform.node_program = "/usr/bin/muster";
    return platform;
}

/// A job of one worker with this command, and another container.
Job job_with(const std::string& command, Platform platform, std::vector<Edit> more = {}) {
    const std::string spec = "spec/pytorchReplicaSpecs/Worker/template/spec/";
    more.push_back({spec + "containers/0/command", command});
    more.push_back(
        {spec + "containers/1", R"({"name": "side", "image": "x", "command": ["log"]})"});
    const JobKind& kind = *find_kind("kubeflow.org/v1", "PyTorchJob");
    return load(kind, manifest_of(kind, {{{"Worker", 1}}, std::move(more)}), std::move(platform))
        .value();
}

/// What a kind's finish_pod would do with both containers.
kube::Pod given(const Job& job, OtherPrograms others = OtherPrograms::kAsTheyAre) {
    kube::Pod pod = build_pod(job, {"Worker", 0}).value();
    for (kube::Container& container : pod.spec.containers) give_agent(job, pod, container, others);
    return pod;
}

TEST(AgentInPods, AnyCommandIsBehindTheStartProgramOnACluster) {
    for (const Words& words : std::vector<Words>{{"dlrover-run", "x.py"},
                                                 {"python", "train.py"},
                                                 {"bash", "-c", "cd /w; $RUN x.py"},
                                                 {"/app/entry"}}) {
        const json::array command(words.begin(), words.end());
        const kube::Pod pod = given(job_with(json::serialize(command), on_cluster()));
        Words made{kStart};
        made.insert(made.end(), words.begin(), words.end());
        EXPECT_EQ(pod.spec.containers[0].command, made);
        EXPECT_THAT(pod.spec.containers[1].command, ElementsAre(kStart, "log"));
        EXPECT_EQ(pod.spec.volumes.size(), 1u) << "of both";
        EXPECT_EQ(pod.spec.init_containers.size(), 1u);
        for (const kube::Container& container : pod.spec.containers)
            EXPECT_THAT(container.volume_mounts,
                        ElementsAre(Field(&kube::VolumeMount::mount_path, "/opt/muster")));
    }
}

TEST(AgentInPods, OnANodeItIsPutIntoTheCommandThatCallsALauncher) {
    const auto command = [](const std::string& words) {
        return given(job_with(words, on_node())).spec.containers[0].command;
    };
    EXPECT_THAT(command(R"(["dlrover-run", "x.py"])"),
                ElementsAre("/opt/muster/muster", "muster-run-for", "dlrover-run", "x.py"));
    EXPECT_THAT(command(R"(["python", "-m", "dlrover.trainer.torch.main", "x.py"])"),
                ElementsAre("/opt/muster/muster", "muster-run-for", "python", "-m",
                            "dlrover.trainer.torch.main", "x.py"));
    EXPECT_THAT(
        command(R"(["bash", "-c", "cd /w; dlrover-run x.py"])"),
        ElementsAre("bash", "-c", "cd /w; /opt/muster/muster muster-run-for dlrover-run x.py"));
    EXPECT_THAT(command(R"(["python", "train.py"])"), ElementsAre("python", "train.py"));
    EXPECT_THAT(given(job_with(R"(["python", "train.py"])", on_node())).spec.volumes, IsEmpty());
}

TEST(AgentInPods, WhatCanNotBeReachedIsTold) {
    const Words types{"Master", "Worker"};
    const auto refused = [&](const std::string& command, const Platform& platform) {
        return check_agent(job_with(command, platform), types, OtherPrograms::kAsTheyAre);
    };
    const std::string by_variable = R"(["bash", "-c", "RUN=torchrun; $RUN x"])";
    EXPECT_THAT(refused(by_variable, on_node()),
                ElementsAre(AllOf(Field(&Cause::field,
                                        "spec.pytorchReplicaSpecs.Worker.template."
                                        "spec.containers[0].command"),
                                  Field(&Cause::message, HasSubstr("write torchrun")))));
    EXPECT_THAT(refused(by_variable, on_cluster()), IsEmpty());
    EXPECT_THAT(not_reached_by_agent(job_with("[]", on_cluster()), types),
                ElementsAre(Field(&Cause::reason, "Doubtful")));
    EXPECT_THAT(not_reached_by_agent(job_with("[]", {}), types),
                ElementsAre(Field(&Cause::reason, "Doubtful")))
        << "a manifest that is only looked at";
    EXPECT_THAT(not_reached_by_agent(job_with(R"(["x"])", on_cluster()), types), IsEmpty());
    EXPECT_THAT(not_reached_by_agent(job_with("[]", on_node()), types), IsEmpty());
}

TEST(AgentInPods, IsNotWhereThePlatformHasNoneOrTheImagesIsWanted) {
    EXPECT_FALSE(can_get_agent(job_with(R"(["x"])", {})));
    EXPECT_THAT(given(job_with(R"(["torchrun"])", {})).spec.containers[0].command,
                ElementsAre("torchrun"));
    for (const Platform& platform : {on_cluster(), on_node()}) {
        const Job job = job_with(R"(["torchrun"])", platform,
                                 {{"metadata/annotations", R"({"muster.dev/agent": "image"})"}});
        EXPECT_FALSE(can_get_agent(job));
        EXPECT_THAT(given(job).spec.containers[0].command, ElementsAre("torchrun"));
        EXPECT_THAT(given(job).spec.init_containers, IsEmpty());
    }
}

}  // namespace
}  // namespace muster::jobs::agent_in_pods_test
