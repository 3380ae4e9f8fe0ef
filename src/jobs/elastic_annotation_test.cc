#include "jobs/internal/agents/elastic_annotation.h"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace muster::jobs::elastic_annotation_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Platform machine() {
    Platform platform;
    platform.node_program = "/usr/bin/muster";
    platform.agent_tokens = true;
    return platform;
}

Review review_of(const std::string& value, const std::string& command,
                 const Platform& platform = machine(), const std::string& policy = "{}",
                 const std::string& annotations = "") {
    const std::string replica = R"({"replicas":2,"template":{"spec":{"containers":[
        {"name":"sidecar","image":"a","command":["log"]},
        {"name":"pytorch","image":"a","command":)" +
                                command + "}]}}}";
    const json::value object = json::parse(
        R"({"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","metadata":{"name":"a",
            "annotations":{)" +
        annotations + R"("muster.dev/elastic":")" + value + R"("}},"spec":{"elasticPolicy":)" +
        policy + R"(,"pytorchReplicaSpecs":{"Worker":)" + replica + "}}}");
    return review(*find_kind("kubeflow.org/v1", "PyTorchJob"), object, platform);
}

kube::Pod pod_of(const Review& review) {
    auto pod = build_pod(review.job, {"Worker", 0});
    EXPECT_TRUE(pod) << pod.error().message();
    return *pod;
}

TEST(ElasticAnnotation, PutsAnAgentBeforeTheCommand) {
    const Review job = review_of("true", R"(["torchrun","train.py"])");
    EXPECT_THAT(job.problems, IsEmpty());
    EXPECT_THAT(job.warnings, IsEmpty());
    const kube::Pod pod = pod_of(job);
    const kube::Container& container = pod.spec.containers[1];
    EXPECT_THAT(container.command,
                ElementsAre("/opt/muster/muster", "muster-run-for", "torchrun", "train.py"));
    EXPECT_THAT(pod.spec.containers[0].command, ElementsAre("log"));
    EXPECT_THAT(container.volume_mounts,
                Contains(Field(&kube::VolumeMount::mount_path, "/opt/muster/muster")));
    EXPECT_THAT(container.env, Contains(Field(&kube::EnvVar::name, "MUSTER_TOKEN")));
    EXPECT_EQ(owned_types(*job.job.kind, job.job.platform).size(), 1u);
    EXPECT_TRUE(has_owned_objects(job.job));
    EXPECT_THAT(pod_of(review_of("true", R"(["python","train.py"])")).spec.containers[1].command,
                ElementsAre("/opt/muster/muster", "muster-run", "--nproc-per-node=1", "--no-python",
                            "python", "train.py"));
}

TEST(ElasticAnnotation, OnlyTrueAndOnlyWhereTheProgramIs) {
    const std::string command = R"(["torchrun","train.py"])";
    const Review no = review_of("false", command);
    EXPECT_THAT(pod_of(no).spec.containers[1].command, ElementsAre("torchrun", "train.py"));
    EXPECT_THAT(no.warnings, IsEmpty());
    const Review other = review_of("yes", command);
    EXPECT_THAT(pod_of(other).spec.containers[1].command, ElementsAre("torchrun", "train.py"));
    EXPECT_THAT(other.warnings,
                ElementsAre(Field(&Cause::message, HasSubstr("only \"true\" has a meaning"))));
    Platform cluster;
    cluster.cluster = true;
    const Review there = review_of("true", command, cluster);
    EXPECT_THAT(pod_of(there).spec.containers[1].command, ElementsAre("torchrun", "train.py"));
    EXPECT_THAT(there.warnings,
                ElementsAre(Field(&Cause::message, HasSubstr("no image to give pods the agent"))));
}

TEST(ElasticAnnotation, ACommandWhosePlaceNoAgentCanTakeIsRefused) {
    const Review job =
        review_of("true", R"(["python","-O","-m","torch.distributed.launch","train.py"])");
    ASSERT_EQ(job.problems.size(), 1u);
    EXPECT_EQ(job.problems[0].field,
              "spec.pytorchReplicaSpecs.Worker.template.spec.containers[1].command");
    EXPECT_THAT(job.problems[0].message, HasSubstr("muster.dev/elastic: "));
}

Platform cluster_with_image() {
    Platform platform;
    platform.cluster = true;
    platform.program_image = "muster/operator:1";
    platform.agent_tokens = true;
    return platform;
}

const std::string kStart = "/opt/muster/bin/muster-start";

TEST(ElasticAnnotation, OnAClusterStartsTheCommandSoThatItReachesTheAgent) {
    const Review job = review_of("true", R"(["bash","run.sh"],"args":["a"])", cluster_with_image());
    EXPECT_THAT(job.problems, IsEmpty());
    EXPECT_THAT(job.warnings, IsEmpty());
    const kube::Pod pod = pod_of(job);
    const kube::Container& container = pod.spec.containers[1];
    EXPECT_THAT(container.command, ElementsAre(kStart, "bash", "run.sh"));
    EXPECT_THAT(container.args, ElementsAre("a"));
    EXPECT_THAT(pod.spec.containers[0].command, ElementsAre("log"));
    EXPECT_THAT(pod.spec.containers[0].volume_mounts, IsEmpty());
    EXPECT_THAT(container.volume_mounts,
                ElementsAre(AllOf(Field(&kube::VolumeMount::mount_path, "/opt/muster"),
                                  Field(&kube::VolumeMount::read_only, true))));
    ASSERT_EQ(pod.spec.init_containers.size(), 1u);
    EXPECT_EQ(pod.spec.init_containers[0].image, "muster/operator:1");
    EXPECT_THAT(pod.spec.init_containers[0].command,
                ElementsAre("/usr/local/bin/muster-in-pods", "copy", "/opt/muster"));
    EXPECT_THAT(container.env, Contains(Field(&kube::EnvVar::name, "MUSTER_TOKEN")));
}

TEST(ElasticAnnotation, OnAClusterAPythonIsAWorkerAndALauncherAnAgent) {
    const auto command = [](const std::string& words) {
        const kube::Pod pod = pod_of(review_of("true", words, cluster_with_image()));
        EXPECT_THAT(pod.spec.containers[1].args, IsEmpty()) << words;
        return pod.spec.containers[1].command;
    };
    EXPECT_THAT(command(R"(["python","train.py"],"args":["$$"])"),
                ElementsAre(kStart, "muster-run", "--nproc-per-node=1", "--literal-args",
                            "--no-python", "python", "train.py", "$$"));
    for (const std::string launcher :
         {R"("torchrun","x")", R"("python","-m","torch.distributed.run","x")",
          R"("python","-O","-m","torch.distributed.launch","x")",
          R"("python","-m","dlrover.trainer.torch.main","x")",
          R"("sh","-c","R=torchrun; exec $R x")"}) {
        const std::vector<std::string> made = command("[" + launcher + "]");
        json::array words(made.begin() + 1, made.end());
        EXPECT_EQ(json::serialize(words), "[" + launcher + "]");
        EXPECT_EQ(made.front(), kStart);
    }
}

TEST(ElasticAnnotation, OnAClusterWithVolumesOfImagesItIsInOne) {
    Platform platform = cluster_with_image();
    platform.image_volumes = true;
    const kube::Pod pod = pod_of(review_of("true", R"(["torchrun","x"])", platform));
    EXPECT_THAT(pod.spec.containers[1].command,
                ElementsAre("/opt/muster/opt/muster/bin/muster-start", "torchrun", "x"));
    EXPECT_THAT(pod.spec.init_containers, IsEmpty());
    ASSERT_EQ(pod.spec.volumes.size(), 1u);
    EXPECT_EQ(pod.spec.volumes[0].rest.at("image").at("reference"), "muster/operator:1");
}

TEST(ElasticAnnotation, WhatItCanNotReachIsSaid) {
    const Review bare = review_of("true", R"([],"args":["x"])", cluster_with_image());
    EXPECT_THAT(bare.problems, IsEmpty());
    EXPECT_THAT(bare.warnings,
                ElementsAre(AllOf(Field(&Cause::field,
                                        "spec.pytorchReplicaSpecs.Worker.template.spec."
                                        "containers[1].command"),
                                  Field(&Cause::reason, "Doubtful"),
                                  Field(&Cause::message, HasSubstr("Write the entry point")))));
    const kube::Pod pod = pod_of(bare);
    EXPECT_THAT(pod.spec.containers[1].args, ElementsAre("x"));
    EXPECT_THAT(pod.spec.containers[1].command, IsEmpty());
    EXPECT_THAT(pod.spec.init_containers, IsEmpty());
}

TEST(ElasticAnnotation, TheLauncherOfTheImageRunsWhereThatIsAskedFor) {
    for (const Platform& platform : {cluster_with_image(), machine()}) {
        const Review job = review_of("true", R"(["torchrun","x"])", platform, "{}",
                                     R"("muster.dev/agent":"image",)");
        EXPECT_THAT(job.warnings,
                    ElementsAre(AllOf(
                        Field(&Cause::field, "metadata.annotations[muster.dev/elastic]"),
                        Field(&Cause::reason, "Ineffective"),
                        Field(&Cause::message, HasSubstr("the launcher of the image runs: ")))));
        const kube::Pod pod = pod_of(job);
        EXPECT_THAT(pod.spec.containers[1].command, ElementsAre("torchrun", "x"));
        EXPECT_THAT(pod.spec.init_containers, IsEmpty());
        EXPECT_THAT(pod.spec.containers[1].env,
                    Not(Contains(Field(&kube::EnvVar::name, "MUSTER_TOKEN"))));
    }
}

TEST(ElasticAnnotation, AgentsMeetAtOneOfTheirsAndNotAtEtcd) {
    const std::string policy =
        R"({"rdzvBackend":"etcd","rdzvHost":"etcd","rdzvPort":2379,"minReplicas":1,"maxReplicas":2})";
    const auto variables = [&](const std::string& value) {
        std::map<std::string, std::string> found;
        const kube::Pod pod =
            pod_of(review_of(value, R"(["torchrun","train.py"])", machine(), policy));
        for (const kube::EnvVar& variable : pod.spec.containers[1].env)
            found[variable.name] = variable.value;
        return found;
    };
    auto with = variables("true");
    EXPECT_EQ(with["PET_RDZV_BACKEND"], "c10d");
    EXPECT_EQ(with["PET_RDZV_ENDPOINT"], "a-worker-0:23456");
    EXPECT_EQ(variables("false")["PET_RDZV_ENDPOINT"], "etcd:2379");
}

}  // namespace
}  // namespace muster::jobs::elastic_annotation_test
