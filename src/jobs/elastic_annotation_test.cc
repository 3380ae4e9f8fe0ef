#include "jobs/internal/agents/elastic_annotation.h"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>

namespace muster::jobs {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Platform machine() {
    Platform platform;
    platform.node_program = "/usr/bin/muster";
    platform.agent_tokens = true;
    return platform;
}

Review review_of(const std::string& value, const std::string& command,
                 const Platform& platform = machine(), const std::string& policy = "{}") {
    const std::string replica = R"({"replicas":2,"template":{"spec":{"containers":[
        {"name":"sidecar","image":"a","command":["log"]},
        {"name":"pytorch","image":"a","command":)" +
                                command + "}]}}}";
    const json::value object = json::parse(
        R"({"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","metadata":{"name":"a",
            "annotations":{"muster.dev/elastic":")" +
        value + R"("}},"spec":{"elasticPolicy":)" + policy +
        R"(,"pytorchReplicaSpecs":{"Worker":)" + replica + "}}}");
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
    EXPECT_THAT(there.warnings, ElementsAre(Field(&Cause::message, HasSubstr("on a cluster"))));
}

TEST(ElasticAnnotation, ACommandWhosePlaceNoAgentCanTakeIsRefused) {
    const Review job =
        review_of("true", R"(["python","-m","torch.distributed.launch","train.py"])");
    ASSERT_EQ(job.problems.size(), 1u);
    EXPECT_EQ(job.problems[0].field,
              "spec.pytorchReplicaSpecs.Worker.template.spec.containers[1].command");
    EXPECT_THAT(job.problems[0].message, HasSubstr("muster.dev/elastic: "));
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
}  // namespace muster::jobs
