#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/internal/test_kinds.h"

namespace muster::jobs::pytorchjob_env_test {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

const std::string kMaster = "spec/pytorchReplicaSpecs/Master";
const std::string kWorker = "spec/pytorchReplicaSpecs/Worker";

using Lines = std::vector<std::string>;

struct Case {
    std::string name;
    std::vector<Edit> edits;
    ReplicaId replica;
    Lines wanted;
};

TEST(PyTorchEnvironment, HoldsExactlyTheseInThisOrder) {
    const std::vector<Case> cases = {
        {"the worked example's master",
         {{"spec/nprocPerNode", R"("4")"}},
         {"Master", 0},
         {"PYTHONUNBUFFERED=1", "MASTER_PORT=23456", "PET_MASTER_PORT=23456",
          "MASTER_ADDR=demo-master-0", "PET_MASTER_ADDR=demo-master-0", "WORLD_SIZE=12", "RANK=0",
          "PET_NODE_RANK=0", "PET_NPROC_PER_NODE=4", "PET_NNODES=3"}},
        {"the worked example's last worker",
         {{"spec/nprocPerNode", R"("4")"}},
         {"Worker", 1},
         {"PYTHONUNBUFFERED=1", "MASTER_PORT=23456", "PET_MASTER_PORT=23456",
          "MASTER_ADDR=demo-master-0", "PET_MASTER_ADDR=demo-master-0", "WORLD_SIZE=12", "RANK=2",
          "PET_NODE_RANK=2", "PET_NPROC_PER_NODE=4", "PET_NNODES=3"}},
        {"nprocPerNode absent: auto counts once",
         {},
         {"Worker", 0},
         {"PYTHONUNBUFFERED=1", "MASTER_PORT=23456", "PET_MASTER_PORT=23456",
          "MASTER_ADDR=demo-master-0", "PET_MASTER_ADDR=demo-master-0", "WORLD_SIZE=3", "RANK=1",
          "PET_NODE_RANK=1", "PET_NPROC_PER_NODE=auto", "PET_NNODES=3"}},
        {"nprocPerNode gpu counts once",
         {{"spec/nprocPerNode", R"("gpu")"}, {kWorker + "/replicas", "1"}},
         {"Worker", 0},
         {"PYTHONUNBUFFERED=1", "MASTER_PORT=23456", "PET_MASTER_PORT=23456",
          "MASTER_ADDR=demo-master-0", "PET_MASTER_ADDR=demo-master-0", "WORLD_SIZE=2", "RANK=1",
          "PET_NODE_RANK=1", "PET_NPROC_PER_NODE=gpu", "PET_NNODES=2"}},
        {"nprocPerNode empty is handed on as it is",
         {{"spec/nprocPerNode", R"("")"}},
         {"Worker", 0},
         {"PYTHONUNBUFFERED=1", "MASTER_PORT=23456", "PET_MASTER_PORT=23456",
          "MASTER_ADDR=demo-master-0", "PET_MASTER_ADDR=demo-master-0", "WORLD_SIZE=3", "RANK=1",
          "PET_NODE_RANK=1", "PET_NPROC_PER_NODE=", "PET_NNODES=3"}},
        {"the master's own port",
         {{kMaster + "/template/spec/containers/0/ports",
           R"([{"name":"pytorchjob-port","containerPort":8080}])"}},
         {"Worker", 0},
         {"PYTHONUNBUFFERED=1", "MASTER_PORT=8080", "PET_MASTER_PORT=8080",
          "MASTER_ADDR=demo-master-0", "PET_MASTER_ADDR=demo-master-0", "WORLD_SIZE=3", "RANK=1",
          "PET_NODE_RANK=1", "PET_NPROC_PER_NODE=auto", "PET_NNODES=3"}},
        {"the worker's port does not count",
         {{kWorker + "/template/spec/containers/0/ports",
           R"([{"name":"pytorchjob-port","containerPort":8080}])"}},
         {"Worker", 0},
         {"PYTHONUNBUFFERED=1", "MASTER_PORT=23456", "PET_MASTER_PORT=23456",
          "MASTER_ADDR=demo-master-0", "PET_MASTER_ADDR=demo-master-0", "WORLD_SIZE=3", "RANK=1",
          "PET_NODE_RANK=1", "PET_NPROC_PER_NODE=auto", "PET_NNODES=3"}},
        {"a master alone",
         {{kWorker, ""}},
         {"Master", 0},
         {"PYTHONUNBUFFERED=1", "MASTER_PORT=23456", "PET_MASTER_PORT=23456",
          "MASTER_ADDR=demo-master-0", "PET_MASTER_ADDR=demo-master-0", "WORLD_SIZE=1", "RANK=0",
          "PET_NODE_RANK=0", "PET_NPROC_PER_NODE=auto", "PET_NNODES=1"}},
        {"workers alone (issue 1991)",
         {{kMaster, ""}},
         {"Worker", 1},
         {"PYTHONUNBUFFERED=1", "PET_NPROC_PER_NODE=auto", "PET_NNODES=2"}},
        {"elastic, workers alone",
         {{kMaster, ""}, {"spec/elasticPolicy", R"({"minReplicas":1,"maxReplicas":4})"}},
         {"Worker", 1},
         {"PYTHONUNBUFFERED=1", "PET_NPROC_PER_NODE=auto", "PET_RDZV_ENDPOINT=demo-worker-0:23456",
          "PET_RDZV_BACKEND=c10d", "PET_NNODES=1:4"}},
        {"elastic with a master: both blocks",
         {{"spec/elasticPolicy", R"({"minReplicas":1,"maxReplicas":4})"}},
         {"Master", 0},
         {"PYTHONUNBUFFERED=1", "MASTER_PORT=23456", "PET_MASTER_PORT=23456",
          "MASTER_ADDR=demo-master-0", "PET_MASTER_ADDR=demo-master-0", "WORLD_SIZE=3", "RANK=0",
          "PET_NODE_RANK=0", "PET_NPROC_PER_NODE=auto", "PET_RDZV_ENDPOINT=demo-worker-0:23456",
          "PET_RDZV_BACKEND=c10d", "PET_NNODES=1:4"}},
        {"TestElasticGenerate: full policy",
         {{kMaster, ""},
          {"spec/elasticPolicy", R"({"minReplicas":1,"maxReplicas":3,"rdzvBackend":"c10d",
              "rdzvPort":1234,"rdzvHost":"localhost","rdzvId":"rdzv-id","nProcPerNode":1,
              "maxRestarts":3,"standalone":true,
              "rdzvConf":[{"key":"rdzv-conf-name","value":"rdzv-conf-value"},
                          {"key":"k2","value":"v2"}]})"}},
         {"Worker", 0},
         {"PYTHONUNBUFFERED=1", "PET_RDZV_ENDPOINT=localhost:1234", "PET_RDZV_BACKEND=c10d",
          "PET_NNODES=1:3", "PET_MAX_RESTARTS=3", "PET_NPROC_PER_NODE=1", "PET_RDZV_ID=rdzv-id",
          "PET_RDZV_CONF=rdzv-conf-name=rdzv-conf-value,k2=v2", "PET_STANDALONE="}},
        {"TestElasticGenerate: no elasticPolicy",
         {{kMaster, ""}, {kWorker + "/replicas", "1"}},
         {"Worker", 0},
         {"PYTHONUNBUFFERED=1", "PET_NPROC_PER_NODE=auto", "PET_NNODES=1"}},
        {"elastic: the worker's port, an empty rdzvConf (crashes upstream), standalone false",
         {{kMaster, ""},
          {kWorker + "/template/spec/containers/0/ports",
           R"([{"name":"pytorchjob-port","containerPort":29500}])"},
          {"spec/elasticPolicy", R"({"rdzvConf":[],"standalone":false,"rdzvBackend":"etcd"})"}},
         {"Worker", 0},
         {"PYTHONUNBUFFERED=1", "PET_NPROC_PER_NODE=auto", "PET_RDZV_ENDPOINT=demo-worker-0:29500",
          "PET_RDZV_BACKEND=etcd", "PET_NNODES=2:2"}},
        {"no workers beside the master",
         {{kWorker + "/replicas", "0"}},
         {"Master", 0},
         {"PYTHONUNBUFFERED=1", "MASTER_PORT=23456", "PET_MASTER_PORT=23456",
          "MASTER_ADDR=demo-master-0", "PET_MASTER_ADDR=demo-master-0", "WORLD_SIZE=1", "RANK=0",
          "PET_NODE_RANK=0", "PET_NPROC_PER_NODE=auto", "PET_NNODES=1"}},
    };
    for (const Case& row : cases) {
        SCOPED_TRACE(row.name);
        EXPECT_THAT(environment_of(pytorch_job(row.edits), row.replica),
                    ElementsAreArray(row.wanted));
    }
}

TEST(PyTorchEnvironment, ComesAfterTheUsersOwnInEveryContainerButNotInInitContainers) {
    const Job job = pytorch_job(
        {{kWorker + "/template/spec/containers",
          R"([{"name":"log","image":"l"},
                                      {"name":"pytorch","image":"x",
                                       "env":[{"name":"RANK","value":"7"},{"name":"A"}]}])"},
         {kWorker + "/template/spec/initContainers", R"([{"name":"prepare","image":"p"}])"}});
    const kube::Pod pod = build_pod(job, {"Worker", 0}).value();
    EXPECT_TRUE(pod.spec.init_containers[0].env.empty());
    EXPECT_EQ(pod.spec.containers[0].env.size(), 10u);
    const auto& env = pod.spec.containers[1].env;
    ASSERT_EQ(env.size(), 12u);
    EXPECT_EQ(env[0].name, "RANK");
    EXPECT_EQ(env[0].value, "7");
    EXPECT_EQ(env[1].name, "A");
    EXPECT_EQ(env[2].name, "PYTHONUNBUFFERED");
}

TEST(PyTorchEnvironment, WorldSizeIsNotCutToAnInt32) {
    const Job job =
        pytorch_job({{kWorker + "/replicas", "100000"}, {"spec/nprocPerNode", R"("2000000000")"}});
    EXPECT_THAT(environment_of(job, {"Master", 0}),
                testing::Contains("WORLD_SIZE=200002000000000"));
}

TEST(PyTorchEnvironment, AMissingPortIsAnErrorAndNoPod) {
    Job job = pytorch_job();
    job.replicas.at("Master").template_.spec.containers[0].ports.clear();
    const auto pod = build_pod(job, {"Worker", 0});
    ASSERT_FALSE(pod.has_value());
    EXPECT_THAT(pod.error().message(), testing::HasSubstr("pytorchjob-port"));
}

}  // namespace
}  // namespace muster::jobs::pytorchjob_env_test
