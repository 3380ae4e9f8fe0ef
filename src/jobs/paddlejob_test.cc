#include "jobs/internal/test_kinds.h"

namespace muster::jobs::paddlejob_test {
namespace {

const JobKind& kind() { return *find_kind("kubeflow.org/v1", "PaddleJob"); }

TEST(PaddleJob, Environment) {
    expect_environments(
        kind(),
        {{"collective: where all meet",
          {{{"Worker", 2}}},
          {"Worker", 0},
          {"PYTHONUNBUFFERED=1", "PADDLE_JOB_ID=j", "PADDLE_NNODES=2", "POD_IP_DUMMY<status.podIP",
           "PADDLE_MASTER=$(POD_IP_DUMMY):36543"}},
         {"collective: who comes",
          {{{"Worker", 2}}},
          {"Worker", 1},
          {"PYTHONUNBUFFERED=1", "PADDLE_JOB_ID=j", "PADDLE_NNODES=2",
           "PADDLE_MASTER=j-worker-0:36543"}},
         {"parameter servers: the first, with a port of its own",
          {{{"Master", 2}, {"Worker", 2}},
           {{"spec/paddleReplicaSpecs/Master/template/spec/containers/0/ports",
             R"([{"name":"master","containerPort":1111}])"}}},
          {"Master", 0},
          {"PYTHONUNBUFFERED=1", "PADDLE_JOB_ID=j", "PADDLE_NNODES=4", "POD_IP_DUMMY<status.podIP",
           "PADDLE_MASTER=$(POD_IP_DUMMY):1111", "PADDLE_SERVER_NUM=1"}},
         {"parameter servers: the second",
          {{{"Master", 2}, {"Worker", 2}}},
          {"Master", 1},
          {"PYTHONUNBUFFERED=1", "PADDLE_JOB_ID=j", "PADDLE_NNODES=4",
           "PADDLE_MASTER=j-master-0:36543", "PADDLE_SERVER_NUM=1"}},
         {"parameter servers: the first worker is none of them",
          {{{"Master", 1}, {"Worker", 1}}},
          {"Worker", 0},
          {"PYTHONUNBUFFERED=1", "PADDLE_JOB_ID=j", "PADDLE_NNODES=2",
           "PADDLE_MASTER=j-master-0:36543", "PADDLE_TRAINER_NUM=1"}}});
}

TEST(PaddleJob, Rules) {
    const std::string elastic = "spec/elasticPolicy";
    expect_problems(
        kind(), {{"webhook: valid", {{{"Worker", 2}}}},
                 {"webhook: no replicas", {{}}, "Required", "spec.paddleReplicaSpecs", "add"},
                 {"webhook: missing container",
                  {{{"Worker", 1}},
                   {{"spec/paddleReplicaSpecs/Worker/template/spec/containers/0/name", R"("p")"}}},
                  "Required",
                  "spec.paddleReplicaSpecs.Worker.template.spec.containers",
                  "paddle"},
                 {"an elasticPolicy without workers, which crashes upstream",
                  {{{"Master", 1}}, {{elastic, "{}"}}}},
                 {"minReplicas above maxReplicas",
                  {{{"Worker", 2}}, {{elastic, R"({"minReplicas":3,"maxReplicas":2})"}}},
                  "Invalid",
                  "spec.elasticPolicy.minReplicas",
                  "3 is more than 2"}});
}

TEST(PaddleJob, WarnsThatAnElasticPolicyHasNoEffect) {
    const Review seen =
        review(kind(), manifest_of(kind(), {{{"Worker", 2}}, {{"spec/elasticPolicy", "{}"}}}));
    EXPECT_THAT(seen.warnings,
                testing::ElementsAre(testing::Field(&Cause::field, "spec.elasticPolicy")));
}

TEST(PaddleJob, Verdicts) {
    expect_verdicts(kind(), {{"the servers decide where there are some",
                              {{{"Master", 1}, {"Worker", 2}}},
                              "Master",
                              {.succeeded = 1},
                              Outcome::kSucceeded,
                              "PaddleJob j is successfully completed."},
                             {"else the workers: one of two is done",
                              {{{"Worker", 2}}},
                              "Worker",
                              {.active = 1, .succeeded = 1},
                              Outcome::kRunning,
                              "PaddleJob ns/j is running."},
                             {"all are done",
                              {{{"Worker", 2}}},
                              "Worker",
                              {.succeeded = 2},
                              Outcome::kSucceeded,
                              "PaddleJob ns/j successfully completed."}});
}

}  // namespace
}  // namespace muster::jobs::paddlejob_test
