#include "jobs/internal/test_kinds.h"

namespace muster::jobs::xgboostjob_test {
namespace {

const JobKind& kind() { return *find_kind("kubeflow.org/v1", "XGBoostJob"); }

TEST(XGBoostJob, Environment) {
    expect_environments(
        kind(), {{"a master with two workers",
                  {{{"Master", 1}, {"Worker", 2}}},
                  {"Master", 0},
                  {"MASTER_PORT=9999", "MASTER_ADDR=j-master-0", "WORLD_SIZE=3", "RANK=0",
                   "PYTHONUNBUFFERED=1", "WORKER_PORT=9999", "WORKER_ADDRS=j-worker-0,j-worker-1"}},
                 {"ranks of workers come after the master's; a port of their own",
                  {{{"Master", 1}, {"Worker", 2}},
                   {{"spec/xgbReplicaSpecs/Worker/template/spec/containers/0/ports",
                     R"([{"name":"xgboostjob-port","containerPort":8888}])"}}},
                  {"Worker", 1},
                  {"MASTER_PORT=9999", "MASTER_ADDR=j-master-0", "WORLD_SIZE=3", "RANK=2",
                   "PYTHONUNBUFFERED=1", "WORKER_PORT=8888", "WORKER_ADDRS=j-worker-0,j-worker-1"}},
                 {"a master alone",
                  {{{"Master", 1}}},
                  {"Master", 0},
                  {"MASTER_PORT=9999", "MASTER_ADDR=j-master-0", "WORLD_SIZE=1", "RANK=0",
                   "PYTHONUNBUFFERED=1"}}});
}

TEST(XGBoostJob, Rules) {
    expect_problems(kind(), {{"webhook: valid", {{{"Master", 1}, {"Worker", 2}}}},
                             {"webhook: master missing",
                              {{{"Worker", 2}}},
                              "Required",
                              "spec.xgbReplicaSpecs.Master",
                              "needs"},
                             {"webhook: two masters",
                              {{{"Master", 2}, {"Worker", 2}}},
                              "Forbidden",
                              "spec.xgbReplicaSpecs.Master.replicas",
                              "must be 1"},
                             {"as many workers as WORKER_ADDRS has room for",
                              {{{"Master", 1}, {"Worker", 9000}}}},
                             {"more workers than WORKER_ADDRS has room for",
                              {{{"Master", 1}, {"Worker", 20000}}},
                              "Invalid",
                              "spec.xgbReplicaSpecs",
                              "WORKER_ADDRS names all 20000 replicas"}});
}

TEST(XGBoostJob, Verdicts) {
    const Shape shape{{{"Master", 1}, {"Worker", 2}}};
    expect_verdicts(kind(), {{"the master runs",
                              shape,
                              "Master",
                              {.active = 1},
                              Outcome::kRunning,
                              "XGBoostJob j is running."},
                             {"the master is done",
                              shape,
                              "Master",
                              {.succeeded = 1},
                              Outcome::kSucceeded,
                              "XGBoostJob j is successfully completed."}});
    const Job job = job_of(kind(), shape);
    EXPECT_EQ(judge(kind(), kind().success_policy(job), "ns", "j", {.wanted = 1, .succeeded = 1})
                  .running_message,
              "XGBoostJob j is running.")
        << "however short it was, it ran";
}

}  // namespace
}  // namespace muster::jobs::xgboostjob_test
