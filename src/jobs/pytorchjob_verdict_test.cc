#include <gtest/gtest.h>

#include "jobs/internal/test_manifest.h"

namespace muster::jobs::pytorchjob_verdict_test {
namespace {

struct Case {
    std::string name;
    std::vector<Edit> edits;
    std::map<std::string, ReplicaCounts> counts;
    Outcome outcome;
    std::string message;
};

ReplicaCounts counts(std::int32_t wanted, std::int32_t active, std::int32_t succeeded,
                     std::int32_t failed = 0) {
    return {.wanted = wanted, .active = active, .succeeded = succeeded, .failed = failed};
}

TEST(PyTorchVerdict, MasterDecidesElseTheWorkers) {
    const std::vector<Edit> with_master = {};
    const std::vector<Edit> workers_only = {{"spec/pytorchReplicaSpecs/Master", ""}};
    const std::vector<Edit> elastic = {{"spec/pytorchReplicaSpecs/Master", ""},
                                       {"spec/elasticPolicy", "{}"}};
    const std::vector<Edit> elastic_master = {{"spec/elasticPolicy", "{}"}};
    const std::string done = "PyTorchJob demo is successfully completed.";
    const std::string running = "PyTorchJob demo is running.";
    const std::string workers_done = "PyTorchJob ml/demo successfully completed.";
    const std::string workers_running = "PyTorchJob ml/demo is running.";
    const std::vector<Case> cases = {
        {"nothing yet", with_master, {}, Outcome::kPending, ""},
        {"all pending",
         with_master,
         {{"Master", counts(1, 0, 0)}, {"Worker", counts(2, 0, 0)}},
         Outcome::kPending,
         ""},
        {"master runs",
         with_master,
         {{"Master", counts(1, 1, 0)}, {"Worker", counts(2, 0, 0)}},
         Outcome::kRunning,
         running},
        {"only workers run",
         with_master,
         {{"Master", counts(1, 0, 0)}, {"Worker", counts(2, 2, 0)}},
         Outcome::kPending,
         ""},
        {"master done, workers run",
         with_master,
         {{"Master", counts(1, 0, 1)}, {"Worker", counts(2, 2, 0)}},
         Outcome::kSucceeded,
         done},
        {"workers done, master runs",
         with_master,
         {{"Master", counts(1, 1, 0)}, {"Worker", counts(2, 0, 2)}},
         Outcome::kRunning,
         running},
        {"master done while a worker failed: the master decides, in any order of the types",
         with_master,
         {{"Master", counts(1, 0, 1)}, {"Worker", counts(2, 1, 0, 1)}},
         Outcome::kSucceeded,
         done},
        {"master failed",
         with_master,
         {{"Master", counts(1, 0, 0, 1)}, {"Worker", counts(2, 2, 0)}},
         Outcome::kPending,
         ""},
        {"elastic with a master: workers do not decide",
         elastic_master,
         {{"Master", counts(1, 1, 0)}, {"Worker", counts(2, 0, 2)}},
         Outcome::kRunning,
         running},
        {"workers alone, all run",
         workers_only,
         {{"Worker", counts(2, 2, 0)}},
         Outcome::kRunning,
         workers_running},
        {"workers alone, one is done",
         workers_only,
         {{"Worker", counts(2, 1, 1)}},
         Outcome::kRunning,
         workers_running},
        {"workers alone, one is done and one is gone",
         workers_only,
         {{"Worker", counts(2, 0, 1)}},
         Outcome::kPending,
         ""},
        {"workers alone, all done",
         workers_only,
         {{"Worker", counts(2, 0, 2)}},
         Outcome::kSucceeded,
         workers_done},
        {"workers alone, scaled down after they were done",
         workers_only,
         {{"Worker", counts(1, 0, 2)}},
         Outcome::kSucceeded,
         workers_done},
        {"no replicas wanted is not success",
         workers_only,
         {{"Worker", counts(0, 0, 0)}},
         Outcome::kPending,
         ""},
        {"elastic: the first worker that is done is enough",
         elastic,
         {{"Worker", counts(2, 1, 1)}},
         Outcome::kSucceeded,
         workers_done},
        {"elastic: none is done",
         elastic,
         {{"Worker", counts(2, 1, 0, 1)}},
         Outcome::kRunning,
         workers_running},
    };
    for (const Case& row : cases) {
        SCOPED_TRACE(row.name);
        const Job job = pytorch_job(row.edits);
        const SuccessPolicy success_policy = job.kind->success_policy(job);
        const auto deciding = row.counts.find(job.kind->replica_types[success_policy.type].name);
        const Verdict verdict =
            judge(*job.kind, success_policy, job.metadata.namespace_, job.metadata.name,
                  deciding == row.counts.end() ? ReplicaCounts{} : deciding->second);
        EXPECT_EQ(verdict.outcome, row.outcome);
        EXPECT_EQ(verdict.message, row.message);
    }
}

}  // namespace
}  // namespace muster::jobs::pytorchjob_verdict_test
