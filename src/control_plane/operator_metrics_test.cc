#include "control_plane/operator_metrics.h"

#include <gmock/gmock.h>
#include <prometheus/text_serializer.h>

namespace muster::control_plane::operator_metrics_test {
namespace {

using operators::Milestone;
using ::testing::HasSubstr;
using ::testing::Not;

const jobs::JobKind& kind(const char* name) { return *jobs::find_kind("kubeflow.org/v1", name); }

class OperatorMetricsTest : public ::testing::Test {
  protected:
    void tell(const char* of, const std::string& ns, Milestone milestone) {
        metrics_.on_job({.kind = kind(of),
                         .namespace_ = ns,
                         .name = name_,
                         .milestone = milestone,
                         .since_seen = std::chrono::seconds(2)});
    }
    std::string text() const { return prometheus::TextSerializer().Serialize(metrics_.collect()); }

    const std::string name_ = "job";
    OperatorMetrics metrics_;
};

TEST_F(OperatorMetricsTest, MilestonesAreCounted) {
    for (const Milestone each :
         {Milestone::kCreated, Milestone::kRunning, Milestone::kRestarted, Milestone::kSucceeded})
        tell("PyTorchJob", "team-a", each);
    tell("TFJob", "team-b", Milestone::kFailed);
    const std::string said = text();
    for (const char* line :
         {"training_operator_jobs_created_total{framework=\"pytorch\",job_namespace=\"team-a\"} 1",
          "training_operator_jobs_successful_total{framework=\"pytorch\",job_namespace=\"team-a\"} "
          "1",
          "training_operator_jobs_failed_total{framework=\"tensorflow\",job_namespace=\"team-b\"} "
          "1",
          "muster_job_restarts_total{cause=\"replica\",framework=\"pytorch\",job_namespace=\"team-"
          "a\"} "
          "1",
          "muster_job_create_to_running_seconds_count{framework=\"pytorch\"} 1"})
        EXPECT_THAT(said, HasSubstr(line));
}

TEST_F(OperatorMetricsTest, WhatHasNoLabelsIsThereFromTheStart) {
    for (const char* line :
         {"mpi_operator_jobs_created_total 0", "mpi_operator_jobs_failed_total 0",
          "muster_is_leader 0", "muster_queue_depth 0"})
        EXPECT_THAT(text(), HasSubstr(line));
    metrics_.look_at(true, 7);
    EXPECT_THAT(text(), HasSubstr("muster_is_leader 1"));
    EXPECT_THAT(text(), HasSubstr("muster_queue_depth 7"));
    EXPECT_THAT(text(), Not(HasSubstr("muster_api_window"))) << "its requests wait for nothing";
}

TEST_F(OperatorMetricsTest, NamespacesAreBounded) {
    for (std::size_t i = 0; i < 2 * OperatorMetrics::kMostNamespaces; ++i)
        tell("PyTorchJob", "ns-" + std::to_string(i), Milestone::kCreated);
    tell("PyTorchJob", "ns-0", Milestone::kCreated);
    const std::string said = text();
    EXPECT_THAT(said, HasSubstr("job_namespace=\"ns-0\"} 2"));
    EXPECT_THAT(said, HasSubstr("job_namespace=\"(others)\"} 1000"));
    EXPECT_THAT(said, Not(HasSubstr("job_namespace=\"ns-1000\"")));
}

}  // namespace
}  // namespace muster::control_plane::operator_metrics_test
