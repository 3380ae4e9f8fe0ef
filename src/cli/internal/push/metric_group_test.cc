#include "cli/internal/push/metric_group.h"

#include <gmock/gmock.h>

namespace muster::cli::metric_group_test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(MetricGroup, ItsLabelsAreAPath) {
    EXPECT_EQ(group_path({{"job", "muster_step"}, {"run_id", ""}, {"task_id", "a/b c%"}}),
              "/metrics/job/muster_step/task_id/a%2Fb%20c%25");
}

TEST(MetricGroup, TextOfAllMetrics) {
    const JobMetrics metrics{
        .state = "Running", .wait_seconds = 1.5, .run_seconds = 60, .restarts = 2};
    const std::string text = metrics_text(metrics, {{"kind", "PyTorchJob"}, {"task_name", ""}});
    EXPECT_THAT(text, HasSubstr("# TYPE muster_step_job_state gauge\n"
                                "muster_step_job_state{state=\"Succeeded\"} 0\n"));
    EXPECT_THAT(text, HasSubstr("\nmuster_step_job_state{state=\"Running\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("\n# TYPE muster_step_wait_seconds gauge\n"
                                "muster_step_wait_seconds 1.5\n"));
    EXPECT_THAT(text, HasSubstr("\nmuster_step_run_seconds 60\n"));
    EXPECT_THAT(text, HasSubstr("\nmuster_step_restarts 2\n"));
    EXPECT_THAT(text, Not(HasSubstr("exit_code")));
    EXPECT_THAT(text, testing::EndsWith("\nmuster_step_info{kind=\"PyTorchJob\"} 1\n"));
}

TEST(MetricGroup, TheEndHasACode) {
    EXPECT_THAT(metrics_text({.state = "Failed", .exit_code = 0}, {}),
                HasSubstr("\nmuster_step_exit_code 0\n"));
}

TEST(MetricGroup, AValueCanNotEndItsQuotes) {
    EXPECT_THAT(metrics_text({}, {{"a", "x\"\\\n} 1"}}),
                HasSubstr("muster_step_info{a=\"x\\\"\\\\\\n} 1\"} 1\n"));
}

}  // namespace
}  // namespace muster::cli::metric_group_test
