#include "jobs/internal/test_kinds.h"

namespace muster::jobs::tfjob_test {
namespace {

const JobKind& kind() { return *find_kind("kubeflow.org/v1", "TFJob"); }

const Edit kDynamic{"spec/enableDynamicWorker", "true"};

std::string config(const std::string& value) { return "TF_CONFIG=" + value; }

TEST(TFJob, ClusterSpec) {
    expect_environments(
        kind(),
        {{"ClusterSpec: a local job gets none", {{{"Worker", 1}}}, {"Worker", 0}, {}},
         {"IsDistributed: one parameter server alone is not",
          {{{"PS", 1}, {"Worker", 0}}},
          {"PS", 0},
          {}},
         {"ClusterSpec: ps and worker",
          {{{"Worker", 1}, {"PS", 1}}},
          {"Worker", 0},
          {config(R"({"cluster":{"ps":["j-ps-0.ns.svc:2222"],"worker":["j-worker-0.ns.svc:2222"]},)"
                  R"("task":{"type":"worker","index":0},"environment":"cloud"})")}},
         {"ClusterSpec: an evaluator is not in it",
          {{{"Worker", 1}, {"PS", 1}, {"Evaluator", 1}}},
          {"Evaluator", 0},
          {config(R"({"cluster":{"ps":["j-ps-0.ns.svc:2222"],"worker":["j-worker-0.ns.svc:2222"]},)"
                  R"("task":{"type":"evaluator","index":0},"environment":"cloud"})")}},
         {"a chief, and workers with a port of their own",
          {{{"Chief", 1}, {"Worker", 2}},
           {{"spec/tfReplicaSpecs/Worker/template/spec/containers/0/ports",
             R"([{"name":"tfjob-port","containerPort":3333}])"}}},
          {"Worker", 1},
          {config(R"({"cluster":{"chief":["j-chief-0.ns.svc:2222"],)"
                  R"("worker":["j-worker-0.ns.svc:3333","j-worker-1.ns.svc:3333"]},)"
                  R"("task":{"type":"worker","index":1},"environment":"cloud"})")}},
         {"a master keeps its name",
          {{{"Master", 1}, {"Worker", 1}}},
          {"Master", 0},
          {config(R"({"cluster":{"master":["j-master-0.ns.svc:2222"],)"
                  R"("worker":["j-worker-0.ns.svc:2222"]},)"
                  R"("task":{"type":"master","index":0},"environment":"cloud"})")}}});
}

// pkg/controller.v1/tensorflow: CUSTOM_CLUSTER_DOMAIN of the operator.
TEST(TFJob, AClusterDomainEndsEveryEndpoint) {
    const json::value manifest = manifest_of(kind(), {{{"PS", 1}, {"Worker", 1}}});
    const Job job = load(kind(), manifest, {.cluster_domain = "cluster.local"}).value();
    EXPECT_THAT(environment_of(job, {"Worker", 0}),
                testing::ElementsAre(
                    config(R"({"cluster":{"ps":["j-ps-0.ns.svc.cluster.local:2222"],)"
                           R"("worker":["j-worker-0.ns.svc.cluster.local:2222"]},)"
                           R"("task":{"type":"worker","index":0},"environment":"cloud"})")));
    // A list that fits without it.
    const std::string domain(200, 'd');
    EXPECT_THAT(review(kind(), manifest_of(kind(), {{{"Worker", 1000}}}), {}).problems,
                testing::IsEmpty());
    EXPECT_THAT(
        review(kind(), manifest_of(kind(), {{{"Worker", 1000}}}), {.cluster_domain = domain})
            .problems,
        testing::SizeIs(1));
}

TEST(TFJob, SparseClusterSpec) {
    const Shape shape{{{"Chief", 1}, {"PS", 2}, {"Worker", 3}}, {kDynamic}};
    expect_environments(
        kind(),
        {{"TestConvertClusterSpecToSparseClusterSpec: a worker",
          shape,
          {"Worker", 1},
          {config(R"({"cluster":{"worker":{"1":"j-worker-1.ns.svc:2222"},)"
                  R"("ps":["j-ps-0.ns.svc:2222","j-ps-1.ns.svc:2222"]},)"
                  R"("task":{"type":"worker","index":1}})")}},
         {"TestConvertClusterSpecToSparseClusterSpec: a parameter server",
          shape,
          {"PS", 1},
          {config(R"({"cluster":{"worker":{},"ps":["j-ps-1.ns.svc:2222"]},)"
                  R"("task":{"type":"ps","index":1}})")}},
         {"a chief",
          shape,
          {"Chief", 0},
          {config(R"({"cluster":{"worker":{},"ps":[]},"task":{"type":"chief","index":0}})")}},
         {"no parameter servers",
          {{{"Worker", 2}}, {kDynamic}},
          {"Worker", 0},
          {config(R"({"cluster":{"worker":{"0":"j-worker-0.ns.svc:2222"},"ps":null},)"
                  R"("task":{"type":"worker","index":0}})")}}});
}

TEST(TFJob, OnlyTheTensorFlowContainerGetsIt) {
    const Job job =
        job_of(kind(), {{{"Worker", 2}},
                        {{"spec/tfReplicaSpecs/Worker/template/spec/containers",
                          R"([{"name":"log","image":"l"},{"name":"tensorflow","image":"x"}])"}}});
    const kube::Pod pod = build_pod(job, {"Worker", 0}).value();
    EXPECT_TRUE(pod.spec.containers[0].env.empty());
    EXPECT_EQ(pod.spec.containers[1].env.size(), 1u);
}

TEST(TFJob, Rules) {
    expect_problems(kind(),
                    {{"webhook: valid", {{{"Worker", 2}}}},
                     {"webhook: chief and master together",
                      {{{"Chief", 1}, {"Master", 1}, {"Worker", 1}}},
                      "Forbidden",
                      "spec.tfReplicaSpecs",
                      "keep one"},
                     {"two chiefs",
                      {{{"Chief", 2}, {"Worker", 1}}},
                      "Forbidden",
                      "spec.tfReplicaSpecs.Chief.replicas",
                      "must be 1"},
                     {"no chief and no worker",
                      {{{"PS", 2}, {"Evaluator", 1}}},
                      "Required",
                      "spec.tfReplicaSpecs.Worker",
                      "no replica here can make the job succeed"},
                     {"webhook: missing container",
                      {{{"Worker", 1}},
                       {{"spec/tfReplicaSpecs/Worker/template/spec/containers/0/name", R"("tf")"}}},
                      "Required",
                      "spec.tfReplicaSpecs.Worker.template.spec.containers",
                      "tensorflow"},
                     {"a success policy that nobody knows",
                      {{{"Worker", 1}}, {{"spec/successPolicy", R"("All")"}}},
                      "NotSupported",
                      "spec.successPolicy",
                      "AllWorkers"},
                     {"as many as a dense TF_CONFIG has room for", {{{"Worker", 4500}}}},
                     {"more than a dense TF_CONFIG has room for",
                      {{{"Chief", 1}, {"Worker", 9999}}},
                      "Invalid",
                      "spec.tfReplicaSpecs",
                      "set enableDynamicWorker: true"},
                     {"the same, sparse", {{{"Chief", 1}, {"Worker", 9999}}, {kDynamic}}},
                     {"too many parameter servers for a sparse one",
                      {{{"PS", 9999}, {"Worker", 1}}, {kDynamic}},
                      "Invalid",
                      "spec.tfReplicaSpecs",
                      "take fewer parameter servers"}});
}

TEST(TFJob, Verdicts) {
    const Shape chief{{{"Chief", 1}, {"Worker", 4}}};
    const Shape workers{{{"PS", 2}, {"Worker", 4}}};
    const Shape all{{{"PS", 2}, {"Worker", 4}}, {{"spec/successPolicy", R"("AllWorkers")"}}};
    const std::string running = "TFJob ns/j is running.";
    const std::string done = "TFJob ns/j successfully completed.";
    expect_verdicts(
        kind(),
        {{"Chief worker is succeeded", chief, "Chief", {.succeeded = 1}, Outcome::kSucceeded, done},
         {"Chief worker is running", chief, "Chief", {.active = 1}, Outcome::kRunning, running},
         {"a master decides like a chief",
          {{{"Master", 1}, {"Worker", 4}}},
          "Master",
          {.succeeded = 1},
          Outcome::kSucceeded,
          done},
         {"(No chief worker) Worker is running",
          workers,
          "Worker",
          {.active = 4},
          Outcome::kRunning,
          running},
         {"(No chief worker) 2 workers are succeeded, 2 workers are active",
          workers,
          "Worker",
          {.active = 2, .succeeded = 2},
          Outcome::kRunning,
          running},
         {"(No chief worker, successPolicy: default) worker-0 are succeeded, 3 workers are active",
          workers,
          "Worker",
          {.active = 3, .succeeded = 1, .first_succeeded = true},
          Outcome::kSucceeded,
          done},
         {"(No chief worker, successPolicy: AllWorkers) worker-0 are succeeded, 3 workers are "
          "active",
          all,
          "Worker",
          {.active = 3, .succeeded = 1, .first_succeeded = true},
          Outcome::kRunning,
          running},
         {"(No chief worker, successPolicy: AllWorkers) 4 workers are succeeded",
          all,
          "Worker",
          {.succeeded = 4, .first_succeeded = true},
          Outcome::kSucceeded,
          done}});
}

TEST(TFJob, ReplicasThatTheSparseFormNamesNowhereAreWarnedOf) {
    const auto warned = [](const std::string& type, const std::vector<Edit>& edits) {
        std::vector<std::string> fields;
        const Job job = job_of(kind(), {{{type, 1}, {"PS", 1}, {"Worker", 2}}, edits});
        for (const Cause& cause : warnings(job)) fields.push_back(cause.field);
        return fields;
    };
    for (const std::string type : {"Chief", "Master", "Evaluator"}) {
        EXPECT_THAT(warned(type, {kDynamic}), testing::ElementsAre("spec.tfReplicaSpecs." + type));
        EXPECT_THAT(warned(type, {}), testing::IsEmpty());
    }
}

TEST(TFJob, ForgivesDynamicWorkersOnly) {
    const Shape shape{{{"PS", 1}, {"Worker", 2}}};
    const auto worker = static_cast<std::uint8_t>(kind().replica_types.size() - 1);
    ASSERT_EQ(kind().replica_types[worker].name, "Worker");
    EXPECT_EQ(kind().success_policy(job_of(kind(), shape)).forgiven, 0);
    const SuccessPolicy dynamic =
        kind().success_policy(job_of(kind(), {shape.replicas, {kDynamic}}));
    EXPECT_TRUE(dynamic.forgives(worker));
    EXPECT_FALSE(dynamic.forgives(static_cast<std::uint8_t>(worker - 1)));
}

TEST(TFJob, SaysItsFailuresInItsOwnWords) {
    EXPECT_EQ(failure_message(kind().words.failed, kind(), "ns", "j", "Worker", 2),
              "TFJob ns/j has failed because 2 Worker replica(s) failed.");
}

TEST(TFJob, TakesTypesInAnyCase) {
    const Job job = job_of(kind(), {{{"chief", 1}, {"WORKER", 2}}});
    EXPECT_NE(job.replica("Chief"), nullptr);
    EXPECT_NE(job.replica("Worker"), nullptr);
}

TEST(TFJob, MasterRole) {
    const std::string role(labels::kJobRole);
    auto has_role = [&](const Job& job, const ReplicaId& replica) {
        return build_pod(job, replica)->metadata.labels.contains(role);
    };
    const Job chief = job_of(kind(), {{{"Chief", 1}, {"Worker", 2}}});
    EXPECT_TRUE(has_role(chief, {"Chief", 0}));
    EXPECT_FALSE(has_role(chief, {"Worker", 0}));
    const Job workers = job_of(kind(), {{{"PS", 1}, {"Worker", 2}}});
    EXPECT_TRUE(has_role(workers, {"Worker", 0}));
    EXPECT_FALSE(has_role(workers, {"Worker", 1}));
    EXPECT_FALSE(has_role(workers, {"PS", 0}));
}

}  // namespace
}  // namespace muster::jobs::tfjob_test
