#include "jobs/gang_scheduler.h"

#include <gtest/gtest.h>

#include "jobs/kind.h"

namespace muster::jobs::gang_scheduler_test {
namespace {

struct ChoiceRow {
    std::string name;
    bool cluster;
    std::string asked;
    std::string master;  ///< schedulerName of the template
    std::string worker;
    GangChoice chosen;
};

TEST(GangScheduler, IsTheSitesOrElseThatOfTheTemplates) {
    using enum GangScheduler;
    for (const ChoiceRow& row : std::vector<ChoiceRow>{
             {"nobody", true, "", "", "", {}},
             {"Volcano in any case", true, "VOLCANO", "", "", {kVolcano, "volcano"}},
             {"YuniKorn", true, "yunikorn", "", "", {kYunikorn, "yunikorn"}},
             {"any other", true, "coscheduling", "", "", {kSchedulerPlugins, "coscheduling"}},
             {"the platform before a template",
              true,
              "mine",
              "volcano",
              "",
              {kSchedulerPlugins, "mine"}},
             {"a template", true, "", "", "volcano", {kVolcano, "volcano"}},
             {"the first that names one",
              true,
              "",
              "own",
              "scheduler-plugins-scheduler",
              {kSchedulerPlugins, "scheduler-plugins-scheduler"}},
             {"the first of two", true, "", "yunikorn", "volcano", {kYunikorn, "yunikorn"}},
             {"a scheduler without gangs", true, "", "own", "default-scheduler", {}},
             {"a template on one machine", false, "", "volcano", "volcano", {}},
         }) {
        SCOPED_TRACE(row.name);
        Job job;
        job.kind = find_kind("kubeflow.org/v1", "PyTorchJob");
        job.platform.cluster = row.cluster;
        job.platform.gang_scheduler = row.asked;
        job.replicas["Master"].template_.spec.scheduler_name = row.master;
        job.replicas["Worker"].template_.spec.scheduler_name = row.worker;
        EXPECT_EQ(gang_scheduler_of(job), row.chosen);
    }
}

}  // namespace
}  // namespace muster::jobs::gang_scheduler_test
