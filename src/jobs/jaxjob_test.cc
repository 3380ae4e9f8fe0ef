#include "jobs/internal/test_kinds.h"

namespace muster::jobs::jaxjob_test {
namespace {

const JobKind& kind() { return *find_kind("kubeflow.org/v1", "JAXJob"); }

TEST(JaxJob, Environment) {
    expect_environments(
        kind(), {{"TestSetPodEnv: the coordinator",
                  {{{"Worker", 2}}},
                  {"Worker", 0},
                  {"PYTHONUNBUFFERED=1", "COORDINATOR_PORT=6666", "COORDINATOR_ADDRESS=j-worker-0",
                   "NUM_PROCESSES=2", "PROCESS_ID=0"}},
                 {"TestSetPodEnv: another process, another port",
                  {{{"Worker", 2}},
                   {{"spec/jaxReplicaSpecs/Worker/template/spec/containers/0/ports",
                     R"([{"name":"jaxjob-port","containerPort":1234}])"}}},
                  {"Worker", 1},
                  {"PYTHONUNBUFFERED=1", "COORDINATOR_PORT=1234", "COORDINATOR_ADDRESS=j-worker-0",
                   "NUM_PROCESSES=2", "PROCESS_ID=1"}}});
}

TEST(JaxJob, MissingPortIsAnErrorAndNoPod) {
    Job job = job_of(kind(), {{{"Worker", 1}}});
    job.replicas.at("Worker").template_.spec.containers[0].ports.clear();
    const auto pod = build_pod(job, {"Worker", 0});
    ASSERT_FALSE(pod.has_value());
    EXPECT_THAT(pod.error().message(), testing::HasSubstr("jaxjob-port"));
}

TEST(JaxJob, Rules) {
    const std::string worker = "spec/jaxReplicaSpecs/Worker";
    expect_problems(
        kind(), {{"webhook: valid", {{{"Worker", 3}}}},
                 {"webhook: no containers",
                  {{{"Worker", 1}}, {{worker + "/template/spec/containers", "[]"}}},
                  "Required",
                  "spec.jaxReplicaSpecs.Worker.template.spec.containers",
                  "jax"},
                 {"webhook: no container of the name",
                  {{{"Worker", 1}}, {{worker + "/template/spec/containers/0/name", R"("jaxx")"}}},
                  "Required",
                  "spec.jaxReplicaSpecs.Worker.template.spec.containers",
                  "jax"},
                 {"another replica type",
                  {{{"Worker", 1}, {"Master", 1}}},
                  "NotSupported",
                  "spec.jaxReplicaSpecs.Master",
                  "Worker"},
                 {"managedBy, which upstream ignores here",
                  {{{"Worker", 1}}, {{"spec/runPolicy/managedBy", R"("somebody")"}}},
                  "NotSupported",
                  "spec.runPolicy.managedBy",
                  "somebody"}});
}

TEST(JaxJob, Verdicts) {
    expect_verdicts(kind(),
                    {{"one of two is done",
                      {{{"Worker", 2}}},
                      "Worker",
                      {.active = 1, .succeeded = 1},
                      Outcome::kRunning,
                      "JAXJob ns/j is running."},
                     {"all are done",
                      {{{"Worker", 2}}},
                      "Worker",
                      {.succeeded = 2},
                      Outcome::kSucceeded,
                      "JAXJob ns/j successfully completed."},
                     {"nobody runs yet", {{{"Worker", 2}}}, "Worker", {}, Outcome::kPending}});
}

TEST(JaxJob, IndexZeroIsTheMaster) {
    const Job job = job_of(kind(), {{{"Worker", 2}}});
    const std::string role(labels::kJobRole);
    EXPECT_EQ(build_pod(job, {"Worker", 0})->metadata.labels.at(role), "master");
    EXPECT_FALSE(build_pod(job, {"Worker", 1})->metadata.labels.contains(role));
}

}  // namespace
}  // namespace muster::jobs::jaxjob_test
