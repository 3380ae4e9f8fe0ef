#include "jobs/internal/test_kinds.h"

namespace muster::jobs::elasticjob_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

const JobKind& kind() { return *find_kind("elastic.iml.github.io/v1alpha1", "ElasticJob"); }

const Edit kPsStrategy{"spec/distributionStrategy", R"("ParameterServerStrategy")"};
const Edit kLocalStrategy{"spec/distributionStrategy", R"("Local")"};

Platform on_cluster() {
    Platform platform;
    platform.cluster = true;
    platform.program_image = "muster:1";
    platform.agent_tokens = true;
    platform.pods_reach_api = true;
    return platform;
}
Platform on_machine() {
    Platform platform;
    platform.node_program = "/usr/bin/muster";
    return platform;
}
Job job_on(const Platform& platform, const Shape& shape) {
    return load(kind(), manifest_of(kind(), shape), platform).value();
}

TEST(ElasticJob, EnvironmentOfAWorkerThatMeetsOthers) {
    expect_environments(
        kind(),
        {{"a worker of two",
          {{{"worker", 2}}},
          {"worker", 1},
          {"POD_IP<status.podIP",
           "NODE_IP<status.hostIP",
           "POD_NAME<metadata.name",
           "ELASTIC_JOB_NAME=j",
           "JOB_UID=u-1",
           "GRPC_ENABLE_FORK_SUPPORT=false",
           "NODE_TYPE=worker",
           "NODE_ID=1",
           "NODE_NUM=2",
           "NODE_RANK=1",
           "WORLD_SIZE=2",
           "RANK=1",
           "WORKER_TYPE=worker",
           "WORKER_ID=1",
           "WORKER_NUM=2",
           "WORKER_RANK=1",
           "DLROVER_MASTER_ADDR=elasticjob-j-dlrover-master.ns.svc:50001",
           "DLROVER_MASTER_SERVICE_TYPE=grpc",
           "DLROVER_TRAINING_ELASTIC_MODE=base",
           "MONITOR_ENABLED=true"}},
         {"a replacement has another id and the same rank",
          {{{"worker", 4}}, {kLocalStrategy, {"spec/replicaSpecs/worker/replicas", "1"}}},
          {.type = "worker", .index = 5, .kept_rank = 0},
          {"POD_IP<status.podIP", "NODE_IP<status.hostIP", "POD_NAME<metadata.name",
           "ELASTIC_JOB_NAME=j", "JOB_UID=u-1", "GRPC_ENABLE_FORK_SUPPORT=false",
           "NODE_TYPE=worker", "NODE_ID=5", "NODE_NUM=1", "NODE_RANK=0", "WORKER_TYPE=worker",
           "WORKER_ID=5", "WORKER_NUM=1", "WORKER_RANK=0"}},
         {"envs come first, each under its name",
          {{{"worker", 1}},
           {kLocalStrategy,
            {"spec/envs", R"({"A": {"value": "1"}, "key": {"name": "B", "value": "2"}})"},
            {"spec/brainService", R"("brain:50001")"}}},
          {"worker", 0},
          {"A=1", "B=2", "POD_IP<status.podIP", "NODE_IP<status.hostIP", "POD_NAME<metadata.name",
           "ELASTIC_JOB_NAME=j", "JOB_UID=u-1", "GRPC_ENABLE_FORK_SUPPORT=false",
           "NODE_TYPE=worker", "NODE_ID=0", "DLROVER_BRAIN_SERVICE_ADDR=brain:50001", "NODE_NUM=1",
           "NODE_RANK=0", "WORKER_TYPE=worker", "WORKER_ID=0", "WORKER_NUM=1", "WORKER_RANK=0"}}});
}

std::string tf_config(const Job& job, const ReplicaId& replica) {
    for (const std::string& line : environment_of(job, replica))
        if (line.starts_with("TF_CONFIG=")) return line.substr(10);
    return "none";
}

TEST(ElasticJob, TheFirstWorkerOfATensorFlowJobIsItsChief) {
    const Job job = job_of(kind(), {{{"ps", 1}, {"worker", 2}, {"evaluator", 1}}, {kPsStrategy}});
    EXPECT_EQ(job.replica("chief")->replicas, 1);
    EXPECT_EQ(job.replica("worker")->replicas, 1);
    const std::string cluster =
        R"({"cluster":{"chief":["j-edljob-chief-0.ns.svc:3333"],)"
        R"("ps":["j-edljob-ps-0.ns.svc:2222"],"worker":["j-edljob-worker-0.ns.svc:3333"]},)";
    EXPECT_EQ(tf_config(job, {"chief", 0}), cluster + R"("task":{"type":"chief","index":0}})");
    EXPECT_EQ(tf_config(job, {"ps", 0}), cluster + R"("task":{"type":"ps","index":0}})");
    EXPECT_EQ(tf_config(job, {"evaluator", 0}),
              cluster + R"("task":{"type":"evaluator","index":0}})");

    Job again = job;
    apply_defaults(again);
    EXPECT_EQ(again.replica("worker")->replicas, 1) << "defaults are idempotent";

    const Job with_chief = job_of(kind(), {{{"ps", 1}, {"chief", 1}, {"worker", 2}}});
    EXPECT_EQ(with_chief.replica("worker")->replicas, 2);
    const Job no_worker = job_of(kind(), {{{"ps", 1}, {"worker", 0}}});
    EXPECT_EQ(no_worker.replica("chief"), nullptr);
}

TEST(ElasticJob, StrategiesWithoutTensorFlowHaveNoTfConfig) {
    for (const std::string strategy : {"AllreduceStrategy", "CustomStrategy"}) {
        SCOPED_TRACE(strategy);
        const Job job = job_of(kind(), {{{"ps", 1}, {"worker", 2}},
                                        {{"spec/distributionStrategy", '"' + strategy + '"'}}});
        EXPECT_EQ(tf_config(job, {"worker", 0}), "none");
        EXPECT_EQ(job.replica("chief"), nullptr);
    }
    const Job custom =
        job_of(kind(), {{{"worker", 2}}, {{"spec/distributionStrategy", R"("CustomStrategy")"}}});
    EXPECT_THAT(environment_of(custom, {"worker", 0}), Not(Contains(HasSubstr("WORLD_SIZE"))));
}

TEST(ElasticJob, PodsHaveUpstreamsNamesLabelsAndPolicy) {
    const Job job = job_of(
        kind(), {{{"worker", 2}},
                 {{"spec/replicaSpecs/worker/restartPolicy", R"("Always")"},
                  {"spec/replicaSpecs/worker/template/metadata/labels", R"({"app": "mine"})"}}});
    const kube::Pod pod =
        build_pod(job, {.type = "worker", .index = 4, .kept_rank = 1}, {.restarts = 2}).value();
    EXPECT_EQ(pod.metadata.name, "j-edljob-worker-4");
    EXPECT_EQ(pod.spec.restart_policy, "Never");
    EXPECT_THAT(
        pod.metadata.labels,
        AllOf(Contains(Pair("app", "dlrover")), Contains(Pair("elasticjob.dlrover/name", "j")),
              Contains(Pair("elasticjob.dlrover/replica-type", "worker")),
              Contains(Pair("elasticjob.dlrover/replica-index", "4")),
              Contains(Pair("elasticjob.dlrover/rank-index", "1")),
              Contains(Pair("elasticjob.dlrover/relaunch-count", "2"))));
    EXPECT_EQ(build_service(job, {"worker", 1}).value().metadata.name, "j-edljob-worker-1");
}

/// `muster run` scales the requests of a manifest to all that the machine has: a master that is not
/// in it would find no room.
TEST(ElasticJob, AMasterThatIsNotInTheManifestRequestsSomethingOnAClusterOnly) {
    for (const auto& [platform, requests] :
         {std::pair{on_cluster(), true}, std::pair{on_machine(), false}}) {
        const Job job = job_on(platform, {{{"worker", 1}}});
        const kube::Container& master =
            job.replica("dlrover-master")->template_.spec.containers.at(0);
        EXPECT_EQ(!master.resources.requests.empty(), requests);
        EXPECT_EQ(!master.resources.limits.empty(), requests);
    }
}

TEST(ElasticJob, AMasterIsMadeForEachJobThatMeets) {
    const Job job = job_on(on_cluster(), {{{"worker", 1}}});
    ASSERT_NE(job.replica("dlrover-master"), nullptr);
    const kube::Pod pod = build_pod(job, {"dlrover-master", 2}).value();
    EXPECT_EQ(pod.metadata.name, "elasticjob-j-dlrover-master-2");
    EXPECT_THAT(pod.metadata.labels,
                AllOf(Contains(Pair("app.kubernetes.io/name", "elasticjob")),
                      Contains(Pair("elasticjob.dlrover/replica-type", "dlrover-master"))));
    const kube::Container& container = pod.spec.containers.at(0);
    EXPECT_EQ(container.image, "muster:1");
    EXPECT_THAT(container.command,
                ElementsAre("/usr/local/bin/muster-in-pods", "master", "--job", "j", "--namespace",
                            "ns", "--record-object", "elasticjob-j-dlrover-master", "--job-object",
                            "elasticjobs.v1alpha1.elastic.iml.github.io", "--node-types",
                            "worker,chief", "--plan-object", "j-plan", "--port", "50001"));
    EXPECT_TRUE(pod.spec.init_containers.empty());

    const auto owned = kind().owned_objects(job, {});
    ASSERT_EQ(owned.size(), 6u) << "its service, its record with what it needs for that, the token";
    EXPECT_EQ(owned[5].name, "j-muster-token");
    EXPECT_EQ(owned[0].name, "elasticjob-j-dlrover-master");
    EXPECT_EQ(owned[0].content.at("spec").at("ports").at(0).at("port"), 50001);
    EXPECT_FALSE(kind().has_services("dlrover-master"));

    const Job local = job_of(kind(), {{{"worker", 1}}, {kLocalStrategy}});
    EXPECT_EQ(local.replica("dlrover-master"), nullptr);
    EXPECT_FALSE(has_owned_objects(local));
}

TEST(ElasticJob, OnOneMachineTheMasterRunsTheNodesProgram) {
    const Job job = job_on(on_machine(), {{{"worker", 1}}});
    const kube::Pod pod = build_pod(job, {"dlrover-master", 0}).value();
    EXPECT_THAT(pod.spec.containers.at(0).command,
                ElementsAre("/opt/muster/muster", "master", "--job", "j", "--records",
                            "/var/lib/muster/record", "--port", "50001"));
    ASSERT_EQ(pod.spec.volumes.size(), 2u);
    EXPECT_EQ(pod.spec.volumes[1].name, "muster-record");
    EXPECT_EQ(pod.spec.volumes[0].host_path->path, "/usr/bin/muster");
}

const Edit kOwnMasterTemplate{"spec/replicaSpecs/dlrover-master", R"({"template": {"spec": {
    "priorityClassName": "first",
    "tolerations": [{"key": "cpu-only"}],
    "containers": [
        {"name": "sidecar", "image": "side"},
        {"name": "main", "image": "dlrover:1", "command": ["/bin/bash", "-c", "python -m x"],
         "workingDir": "/app", "resources": {"limits": {"memory": "1Gi"}},
         "livenessProbe": {"exec": {"command": ["true"]}}}]}}})"};

TEST(ElasticJob, ATemplateOfTheMasterKeepsAllButItsProgram) {
    const Shape shape{{{"worker", 1}}, {kOwnMasterTemplate}};
    const Job job = job_on(on_cluster(), shape);
    const kube::Pod pod = build_pod(job, {"dlrover-master", 0}).value();
    EXPECT_EQ(pod.spec.priority_class_name, "first");
    EXPECT_TRUE(pod.spec.rest.contains("tolerations"));
    EXPECT_EQ(pod.spec.containers.at(0).image, "side");
    const kube::Container& main = pod.spec.containers.at(1);
    EXPECT_EQ(main.image, "muster:1");
    EXPECT_EQ(main.command.at(1), "master");
    EXPECT_EQ(main.working_dir, "");
    EXPECT_TRUE(main.resources.limits.contains("memory"));
    EXPECT_FALSE(main.rest.contains("livenessProbe"));
    EXPECT_THAT(review(kind(), manifest_of(kind(), shape)).warnings,
                AllOf(Contains(Field(&Cause::field,
                                     "spec.replicaSpecs.dlrover-master.template.spec."
                                     "containers[1].image")),
                      Contains(Field(&Cause::field,
                                     "spec.replicaSpecs.dlrover-master.template.spec."
                                     "containers[1].command"))));

    Shape of_image = shape;
    of_image.edits.push_back({"metadata/annotations", R"({"muster.dev/master": "image"})"});
    const kube::Pod theirs =
        build_pod(job_on(on_cluster(), of_image), {"dlrover-master", 0}).value();
    EXPECT_EQ(theirs.spec.containers.at(1).image, "dlrover:1");
    EXPECT_EQ(theirs.spec.containers.at(1).command.at(0), "/bin/bash");
}

TEST(ElasticJob, TheFieldsOfATypeCountInEachSpelling) {
    const Shape shape{{{"Worker", 4}},
                      {{"spec/replicaSpecs/Worker/priority", R"("0.5")"},
                       {"spec/replicaSpecs/Worker/restartCount", "7"}}};
    const Job job = job_on(on_cluster(), shape);
    EXPECT_EQ(kind().restart_limit(job, "worker"), 7);
    EXPECT_EQ(build_pod(job, {"worker", 1}).value().spec.priority_class_name, "high");
    EXPECT_EQ(build_pod(job, {"worker", 2}).value().spec.priority_class_name, "low");
    EXPECT_EQ(
        build_pod(job_on(on_machine(), shape), {"worker", 1}).value().spec.priority_class_name, "");
    EXPECT_EQ(kind().restart_limit(job, "dlrover-master"), std::nullopt);
    EXPECT_EQ(kind().restart_limit(job, "ps"), 3);
}

TEST(ElasticJob, ABatchSchedulerPlacesThePodsOfACluster) {
    const Shape shape{{{"worker", 1}},
                      {{"spec/replicaSpecs/worker/BatchScheduler", R"("volcano")"}}};
    EXPECT_EQ(build_pod(job_on(on_cluster(), shape), {"worker", 0}).value().spec.scheduler_name,
              "volcano");
    EXPECT_EQ(build_pod(job_on(on_machine(), shape), {"worker", 0}).value().spec.scheduler_name,
              "");
}

TEST(ElasticJob, SuspendAndTheRunPolicy) {
    EXPECT_EQ(job_of(kind(), {{{"worker", 1}}, {{"spec/suspend", "true"}}}).run_policy.suspend,
              true);
    EXPECT_EQ(job_of(kind(), {{{"worker", 1}}}).run_policy.clean_pod_policy, "Running");
    EXPECT_EQ(job_of(kind(), {{{"worker", 1}}, {{"spec/runPolicy/cleanPodPolicy", R"("None")"}}})
                  .run_policy.clean_pod_policy,
              "None");
}

TEST(ElasticJob, WhoDecides) {
    struct Row {
        std::string name;
        Shape shape;
        SuccessPolicy wanted;
    };
    constexpr std::uint8_t kPs = 1, kChief = 2, kWorker = 3, kEvaluator = 4;
    const auto policy = [](std::uint8_t type, std::vector<std::uint8_t> together,
                           std::vector<std::uint8_t> forgiven) {
        SuccessPolicy made{.type = type};
        for (const std::uint8_t other : together) made.count(other);
        for (const std::uint8_t other : forgiven) made.forgive(other);
        return made;
    };
    const std::vector<Row> rows = {
        {"all workers", {{{"worker", 2}}}, policy(kWorker, {}, {})},
        {"workers that the job can do without",
         {{{"worker", 2}}, {{"spec/replicaSpecs/worker/criticalNodes", R"("none")"}}},
         policy(kWorker, {}, {kWorker})},
        {"the chief, of a job with parameter servers",
         {{{"ps", 1}, {"worker", 2}}},
         policy(kChief, {}, {kWorker})},
        {"with its evaluator",
         {{{"ps", 1}, {"worker", 2}, {"evaluator", 1}}},
         policy(kChief, {kEvaluator}, {kWorker})},
        {"critical workers",
         {{{"ps", 1}, {"worker", 2}}, {{"spec/replicaSpecs/worker/criticalNodes", R"("all")"}}},
         policy(kChief, {}, {})},
        {"parameter servers that are not critical",
         {{{"ps", 2}, {"worker", 2}}, {{"spec/replicaSpecs/ps/criticalNodes", R"("none")"}}},
         policy(kChief, {}, {kPs, kWorker})}};
    for (const Row& row : rows) {
        SCOPED_TRACE(row.name);
        EXPECT_TRUE(kind().success_policy(job_of(kind(), row.shape)) == row.wanted);
    }
}

TEST(ElasticJob, Rules) {
    const std::string worker = "spec/replicaSpecs/worker/";
    expect_problems(
        kind(),
        {{"workers alone", {{{"worker", 2}}}},
         {"no replica specs", {{}}, "Required", "spec.replicaSpecs", "there are no replicas"},
         {"an unknown strategy",
          {{{"worker", 1}}, {{"spec/distributionStrategy", R"("AllReduceStrategy")"}}},
          "NotSupported",
          "spec.distributionStrategy",
          "did you mean \"AllreduceStrategy\"?"},
         {"upstream's spelling of manual",
          {{{"worker", 1}}, {{"spec/optimizeMode", R"("manunal")"}}}},
         {"an unknown mode",
          {{{"worker", 1}}, {{"spec/optimizeMode", R"("brain")"}}},
          "NotSupported",
          "spec.optimizeMode",
          ""},
         {"a fraction of 1.5",
          {{{"worker", 2}}, {{worker + "priority", R"("1.5")"}}},
          "Invalid",
          "spec.replicaSpecs.worker.priority",
          "above 0 and at most 1"},
         {"a fraction of 0",
          {{{"worker", 2}}, {{worker + "priority", R"("0")"}}},
          "Invalid",
          "spec.replicaSpecs.worker.priority",
          "above 0"},
         {"half of the workers", {{{"worker", 2}}, {{worker + "priority", R"("0.5")"}}}},
         {"a critical node out of range",
          {{{"worker", 2}}, {{worker + "criticalNodes", R"("0:3,2:1")"}}},
          "Invalid",
          "spec.replicaSpecs.worker.criticalNodes",
          "no worker of rank 2: ranks are 0 to 1"},
         {"critical nodes that are no list",
          {{{"worker", 2}}, {{worker + "criticalNodes", R"("first")"}}},
          "Invalid",
          "spec.replicaSpecs.worker.criticalNodes",
          "is not a rank with its restarts"},
         {"no worker", {{{"ps", 2}}}, "Required", "spec.replicaSpecs.worker", "add workers"},
         {"Local with one worker", {{{"worker", 1}}, {kLocalStrategy}}},
         {"Local with two workers",
          {{{"worker", 2}}, {kLocalStrategy}},
          "Forbidden",
          "spec.replicaSpecs.worker.replicas",
          "one worker, got 2"},
         {"Local with parameter servers",
          {{{"worker", 1}, {"ps", 1}}, {kLocalStrategy}},
          "Forbidden",
          "spec.replicaSpecs.ps",
          "a worker only"},
         {"two masters",
          {{{"worker", 1}, {"dlrover-master", 2}}},
          "Forbidden",
          "spec.replicaSpecs.dlrover-master.replicas",
          "must be 1"},
         {"an unknown type",
          {{{"worker", 1}, {"workers", 1}}},
          "NotSupported",
          "spec.replicaSpecs.workers",
          "did you mean \"worker\"?"},
         {"a name for which the master's pod would be too long",
          {{{"worker", 1}}, {{"metadata/name", R"("a-name-of-thirty-six-characters-in-all")"}}},
          "Invalid",
          "metadata.name",
          "of its master would have 66"},
         {"a name for which a worker's pod would be too long, too",
          {{{"worker", 1}},
           {{"metadata/name",
             R"("a-name-of-more-than-fifty-characters-is-too-long-for-each-pod")"}}},
          "Invalid",
          "metadata.name",
          "shorten"},
         {"a variable without a name that can be one",
          {{{"worker", 1}}, {{"spec/envs", R"({"A=B": {"value": "1"}})"}}},
          "Invalid",
          "spec.envs[A=B]",
          "is not a variable's name"},
         {"a container of any name, several of them, no requests",
          {{{"worker", 1}},
           {{worker + "template/spec/containers",
             R"([{"name": "a", "image": "x"}, {"name": "b", "image": "y"}])"}}}},
         {"a worker without an image",
          {{{"worker", 1}}, {{worker + "template/spec/containers/0/image", ""}}},
          "Required",
          "spec.replicaSpecs.worker.template.spec.containers[0].image",
          "needs an image"},
         {"a master without image and command",
          {{{"worker", 1}},
           {{"spec/replicaSpecs/dlrover-master/template/spec/containers",
             R"([{"name": "main"}])"}}}},
         {"a master of its own without a command",
          {{{"worker", 1}},
           {{"metadata/annotations", R"({"muster.dev/master": "image"})"},
            {"spec/replicaSpecs/dlrover-master/template/spec/containers",
             R"([{"name": "main", "image": "x"}])"}}},
          "Required",
          "spec.replicaSpecs.dlrover-master.template.spec.containers[0].command",
          "it has no command"},
         {"a master of its own that is not there",
          {{{"worker", 1}}, {{"metadata/annotations", R"({"muster.dev/master": "image"})"}}},
          "Required",
          "spec.replicaSpecs.dlrover-master",
          "needs the template of a master"}});
}

TEST(ElasticJob, ResourceLimitsAreACap) {
    const auto with = [](const std::string& limits, const std::string& requests) {
        return Shape{{{"worker", 3}},
                     {{"spec/resourceLimits", limits},
                      {"spec/replicaSpecs/worker/template/spec/containers/0/resources", requests}}};
    };
    expect_problems(
        kind(), {{"no requests", with(R"({"cpu": "1"})", "{}")},
                 {"as much as is allowed", with(R"({"cpu": "6", "memory": "3Gi"})",
                                                R"({"requests": {"cpu": 2, "memory": "1Gi"}})")},
                 {"more cores", with(R"({"cpu": "5"})", R"({"requests": {"cpu": 2}})"), "Invalid",
                  "spec.resourceLimits.cpu", "request 6 together, and at most 5 are allowed"},
                 {"more memory, which is only limited",
                  with(R"({"memory": "2Gi"})", R"({"limits": {"memory": "1Gi"}})"), "Invalid",
                  "spec.resourceLimits.memory", "request 3072Mi together"},
                 {"more devices", with(R"({"gpu": "4"})", R"({"limits": {"nvidia.com/gpu": 2}})"),
                  "Invalid", "spec.resourceLimits.gpu", "request 6 together"},
                 {"no amount", with(R"({"cpu": "many"})", "{}"), "Invalid",
                  "spec.resourceLimits.cpu", "is no amount"}});
}

TEST(ElasticJob, WhatSingleReplicasRequestCountsAgainstResourceLimits) {
    const auto with = [](const std::string& limit, const std::string& own) {
        return Shape{
            {{"ps", 2}, {"worker", 2}},
            {{"spec/resourceLimits/memory", limit},
             {"spec/replicaSpecs/ps/template/spec/containers/0/resources",
              R"({"requests": {"memory": "1Gi"}, "limits": {"memory": "2Gi"}})"},
             {"spec/replicaSpecs/worker/template/spec/containers/0/resources",
              R"({"requests": {"memory": "1Gi"}})"},
             {"status", R"({"startTime": "2026-01-01T00:00:00Z", "members": )" + own + "}"}}};
    };
    const std::string more = R"({"ps": {"ids": "0-1", "next": 2, "resources": {
        "1": {"resource": {"memory": "4Gi", "cpu": "3"}, "insteadOf": {"memory": "2Gi"}}}}})";
    const std::string ended = R"({"ps": {"ids": "0-1", "next": 2, "resources": {
        "1": {"resource": {"memory": "4Gi"}, "insteadOf": {"memory": "1Gi"}}}}})";
    // The first worker is the chief.
    const std::string of_chief = R"({"chief": {"ids": "0", "next": 1, "resources": {
        "0": {"resource": {"memory": "3Gi"}, "insteadOf": {"memory": "1Gi"}}}}})";
    expect_problems(kind(), {{"exactly", with(R"("7Gi")", more)},
                             {"too much", with(R"("6Gi")", more), "Invalid",
                              "spec.resourceLimits.memory", "request 7168Mi together"},
                             {"what the template says by now", with(R"("4Gi")", ended)},
                             {"the chief", with(R"("5Gi")", of_chief), "Invalid",
                              "spec.resourceLimits.memory", "request 6144Mi together"}});
}

TEST(ElasticJob, MoreMemoryIsForJobsWithParameterServers) {
    const Job servers =
        job_on(on_machine(), {{{"ps", 1}, {"worker", 2}},
                              {{"spec/resourceLimits", R"({"memory": "10Gi"})"},
                               {"spec/replicaSpecs/worker/template/spec/containers/0/resources",
                                R"({"limits": {"memory": "1Gi"}})"}}});
    const std::optional<MemoryPolicy> policy = kind().memory_policy(servers);
    ASSERT_TRUE(policy.has_value());
    constexpr std::int64_t kGibibyte = std::int64_t{1} << 30;
    EXPECT_EQ(policy->each, (std::vector<std::int64_t>{0, 0, kGibibyte, kGibibyte, 0}))
        << "the chief has the workers' template, and the master is not in the manifest";
    EXPECT_EQ(policy->limit, 10 * kGibibyte);
    EXPECT_FALSE(kind().memory_policy(job_on(on_machine(), {{{"worker", 2}}})).has_value());
}

std::vector<std::string> warned(const Platform& platform, const Shape& shape) {
    std::vector<std::string> fields;
    for (const Cause& cause : review(kind(), manifest_of(kind(), shape), platform).warnings)
        fields.push_back(cause.reason + " " + cause.field);
    return fields;
}

TEST(ElasticJob, NoFieldIsSilentlyWithoutEffect) {
    const Shape shape{{{"worker", 2}},
                      {{"spec/optimizeMode", R"("cluster")"},
                       {"spec/brainService", R"("brain")"},
                       {"spec/enableElasticScheduling", "true"},
                       {"spec/enableDynamicSharding", "false"},
                       {"spec/replicaSpecs/worker/autoScale", "true"},
                       {"spec/replicaSpecs/worker/restartTimeout", "60"},
                       {"spec/replicaSpecs/worker/priority", R"("high")"},
                       {"spec/replicaSpecs/worker/BatchScheduler", R"("volcano")"},
                       {"spec/replicaSpecs/worker/criticalNodes", R"("0:3")"},
                       {"spec/replicaSpecs/worker/template/spec/restartPolicy", R"("Always")"}}};
    const std::string worker = "spec.replicaSpecs.worker.";
    EXPECT_THAT(
        warned(on_machine(), shape),
        testing::UnorderedElementsAre(
            "Ineffective spec.optimizeMode", "Ineffective spec.brainService",
            "Ineffective spec.enableElasticScheduling", "Ineffective spec.enableDynamicSharding",
            "Ineffective " + worker + "autoScale", "Ineffective " + worker + "restartTimeout",
            "Ineffective " + worker + "priority", "Ineffective " + worker + "BatchScheduler",
            "Doubtful " + worker + "criticalNodes",
            "Ineffective " + worker + "template.spec.restartPolicy"));
    EXPECT_THAT(warned(on_cluster(), shape), AllOf(Not(Contains(HasSubstr("priority"))),
                                                   Not(Contains(HasSubstr("BatchScheduler")))));
    EXPECT_THAT(warned(on_machine(), {{{"worker", 2}}}), IsEmpty());
    EXPECT_THAT(warned(on_machine(), {{{"worker", 2}}, {{"spec/optimizeMode", R"("manunal")"}}}),
                ElementsAre("Deprecated spec.optimizeMode"));
}

TEST(ElasticJob, AMasterWithoutAnImageIsToldOnAClusterOnly) {
    Platform cluster;
    cluster.cluster = true;
    const std::string no_command =
        "Doubtful spec.replicaSpecs.worker.template.spec.containers[0].command";
    EXPECT_THAT(warned(cluster, {{{"worker", 1}}}),
                ElementsAre("Doubtful spec.replicaSpecs", no_command));
    EXPECT_THAT(warned(on_cluster(), {{{"worker", 1}}}), ElementsAre(no_command));
}

/// Annotations are data: what is no value of theirs is told, and reaches no command.
TEST(ElasticJob, AnnotationsThatSteerUpstreamsMaster) {
    const auto with = [](const std::string& annotations) {
        return Shape{{{"worker", 1}}, {{"metadata/annotations", annotations}}};
    };
    EXPECT_THAT(warned(on_machine(), with(R"({"service_type": "http",
                                              "training_elastic_mode": "ucp",
                                              "pending_timeout": "60",
                                              "pending_fail_strategy": "-1"})")),
                IsEmpty());
    const Job job = job_of(kind(), with(R"({"service_type": "http; rm -rf /",
                                            "training_elastic_mode": "ucp",
                                            "dynamic_failover_extension": "a::b"})"));
    EXPECT_THAT(environment_of(job, {"worker", 0}),
                AllOf(Contains("DLROVER_MASTER_SERVICE_TYPE=grpc"),
                      Contains("DLROVER_TRAINING_ELASTIC_MODE=ucp"),
                      Contains("DLROVER_EXTENSION_DYNAMIC_FAILOVER=a::b")));
    for (const std::string name :
         {"service_type", "pending_timeout", "pre_check_ops", "pre_check_bypass", "hang_detection",
          "hang_downtime", "pending_fail_strategy", "enable_dashboard"}) {
        SCOPED_TRACE(name);
        const Shape shape = with("{\"" + name + "\": \"$(touch /tmp/x)\"}");
        EXPECT_THAT(warned(on_machine(), shape),
                    ElementsAre("Ineffective metadata.annotations[" + name + "]"));
        const kube::Pod master =
            build_pod(job_on(on_cluster(), shape), {"dlrover-master", 0}).value();
        EXPECT_THAT(master.spec.containers.at(0).command, Not(Contains(HasSubstr("touch"))));
    }
}

}  // namespace
}  // namespace muster::jobs::elasticjob_test
