#include "jobs/internal/test_kinds.h"

namespace muster::jobs::mxjob_test {
namespace {

const JobKind& kind() { return *find_kind("kubeflow.org/v1", "MXJob"); }

const Edit kTrain{"spec/jobMode", R"("MXTrain")"};
const Edit kTune{"spec/jobMode", R"("MXTune")"};

TEST(MXJob, EnvironmentOfTraining) {
    const Shape shape{{{"Scheduler", 1}, {"Server", 1}, {"Worker", 2}}, {kTrain}};
    const std::string shared =
        R"(MX_CONFIG={"cluster":{"scheduler":[{"url":"j-scheduler-0","port":9091}],)"
        R"("server":[{"url":"j-server-0","port":9091}],)"
        R"("worker":[{"url":"j-worker-0","port":9091},{"url":"j-worker-1","port":9091}]},)"
        R"("labels":{"scheduler":"","server":"","worker":""},)";
    expect_environments(
        kind(), {{"a worker",
                  shape,
                  {"Worker", 1},
                  {shared + R"("task":{"type":"worker","index":1}})", "DMLC_PS_ROOT_PORT=9091",
                   "DMLC_PS_ROOT_URI=j-scheduler-0", "DMLC_NUM_SERVER=1", "DMLC_NUM_WORKER=2",
                   "DMLC_ROLE=worker", "DMLC_USE_KUBERNETES=1", "DMLC_WORKER_ID=1"}},
                 {"the scheduler has no worker's number",
                  shape,
                  {"Scheduler", 0},
                  {shared + R"("task":{"type":"scheduler","index":0}})", "DMLC_PS_ROOT_PORT=9091",
                   "DMLC_PS_ROOT_URI=j-scheduler-0", "DMLC_NUM_SERVER=1", "DMLC_NUM_WORKER=2",
                   "DMLC_ROLE=scheduler", "DMLC_USE_KUBERNETES=1"}}});
}

TEST(MXJob, EnvironmentOfTuning) {
    const Shape shape{{{"TunerTracker", 1}, {"TunerServer", 1}, {"Tuner", 1}},
                      {kTune,
                       {"spec/mxReplicaSpecs/TunerServer/template/metadata/annotations",
                        R"({"tuner-server-key":"2080ti"})"}}};
    expect_environments(kind(),
                        {{"the tuner",
                          shape,
                          {"Tuner", 0},
                          {R"(MX_CONFIG={"cluster":{"tuner":[{"url":"j-tuner-0","port":9091}],)"
                           R"("tunerserver":[{"url":"j-tunerserver-0","port":9091}],)"
                           R"("tunertracker":[{"url":"j-tunertracker-0","port":9091}]},)"
                           R"("labels":{"tuner":"","tunerserver":"2080ti","tunertracker":""},)"
                           R"("task":{"type":"tuner","index":0}})",
                           "DMLC_PS_ROOT_PORT=0", "DMLC_PS_ROOT_URI=", "DMLC_NUM_SERVER=0",
                           "DMLC_NUM_WORKER=0", "DMLC_ROLE=tuner", "DMLC_USE_KUBERNETES=1"}}});
}

TEST(MXJob, Rules) {
    expect_problems(kind(), {{"TestValidateV1MXJob: valid",
                              {{{"Scheduler", 1}, {"Server", 1}, {"Worker", 1}}, {kTrain}}},
                             {"no jobMode", {{{"Worker", 1}}}, "Required", "spec.jobMode", ""},
                             {"a jobMode that nobody knows",
                              {{{"Worker", 1}}, {{"spec/jobMode", R"("MXtrain")"}}},
                              "NotSupported",
                              "spec.jobMode",
                              "MXTrain"},
                             {"TestValidateV1MXJob: two schedulers",
                              {{{"Scheduler", 2}, {"Worker", 1}}, {kTrain}},
                              "Forbidden",
                              "spec.mxReplicaSpecs.Scheduler.replicas",
                              "must be 1"},
                             {"servers alone",
                              {{{"Server", 2}}, {kTrain}},
                              "Required",
                              "spec.mxReplicaSpecs",
                              "add a Scheduler"},
                             {"a tuner's helpers alone",
                              {{{"TunerTracker", 1}, {"TunerServer", 1}}, {kTune}},
                              "Required",
                              "spec.mxReplicaSpecs",
                              "add a Tuner"},
                             {"more replicas than MX_CONFIG has room for",
                              {{{"Scheduler", 1}, {"Worker", 9000}}, {kTrain}},
                              "Invalid",
                              "spec.mxReplicaSpecs",
                              "MX_CONFIG names all 9001 replicas"}});
}

TEST(MXJob, Verdicts) {
    expect_verdicts(kind(), {{"the scheduler decides",
                              {{{"Scheduler", 1}, {"Server", 1}, {"Worker", 2}}, {kTrain}},
                              "Scheduler",
                              {.succeeded = 1},
                              Outcome::kSucceeded,
                              "MXJob j is successfully completed."},
                             {"a single worker decides",
                              {{{"Worker", 1}}, {kTrain}},
                              "Worker",
                              {.active = 1},
                              Outcome::kRunning,
                              "MXJob j is running."},
                             {"of a search the tuner does",
                              {{{"TunerTracker", 1}, {"Tuner", 1}}, {kTune}},
                              "Tuner",
                              {.succeeded = 1},
                              Outcome::kSucceeded,
                              "MXJob j is successfully completed."}});
}

TEST(MXJob, SaysItsFailuresInItsOwnWords) {
    EXPECT_EQ(failure_message(kind().words.restarting, kind(), "ns", "j", "Server", 1),
              "mxjob j is restarting because 1 Server replica(s) failed.");
}

}  // namespace
}  // namespace muster::jobs::mxjob_test
