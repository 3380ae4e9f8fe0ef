#include "operator/internal/integrations/gang.h"

#include <gtest/gtest.h>

#include "jobs/gang.h"
#include "jobs/kind.h"
#include "kube/objects/pod_contract.h"

namespace muster::operators::gang_test {
namespace {

TEST(Gang, IsAllReplicasUnlessMinAvailableSaysLess) {
    struct Case {
        std::int32_t masters;
        std::int32_t workers;
        std::optional<std::int32_t> min_available;
        std::int32_t size;
        const char* announced;  ///< nullptr: nothing
    };
    const Case cases[] = {{1, 3, {}, 4, "4"}, {1, 0, {}, 1, nullptr}, {1, 3, 2, 2, "2"},
                          {1, 3, 9, 4, "4"},  {1, 3, 1, 1, nullptr},  {1, 3, 0, 0, nullptr}};
    for (const Case& c : cases) {
        jobs::Job job;
        job.replicas["Master"].replicas = c.masters;
        job.replicas["Worker"].replicas = c.workers;
        if (c.min_available)
            job.run_policy.scheduling_policy.emplace().min_available = c.min_available;
        EXPECT_EQ(gang_size(job), c.size);
        kube::Pod pod;
        pod.metadata.annotations[std::string(kube::kGangSizeAnnotation)] = "of the template";
        announce_gang(job, pod);
        const auto written = pod.metadata.annotations.find(std::string(kube::kGangSizeAnnotation));
        if (c.announced == nullptr)
            EXPECT_EQ(written, pod.metadata.annotations.end());
        else
            EXPECT_EQ(written->second, c.announced);
    }
}

// Issue 608 of the mpi-operator: a gang that waits for its launcher, which waits for the gang.
TEST(Gang, WaitsForNobodyWhoStartsAfterIt) {
    jobs::JobKind kind;
    kind.starts_after = [](const jobs::Job&, const std::string& type) {
        return type == "Launcher" ? std::string("Worker") : std::string();
    };
    jobs::Job job;
    job.replicas["Launcher"].replicas = 1;
    job.replicas["Worker"].replicas = 3;
    EXPECT_EQ(gang_size(job), 4);
    job.kind = &kind;
    EXPECT_EQ(gang_size(job), 3);
    job.run_policy.scheduling_policy.emplace().min_available = 4;
    EXPECT_EQ(gang_size(job), 3);
}

TEST(Gang, OfAnElasticJobIsTheFewestThatItGoesOnWith) {
    jobs::JobKind kind;
    kind.scaled_type = "Worker";
    kind.elasticity = [](const jobs::Job&) {
        return jobs::Elasticity{.min_replicas = 2, .max_replicas = 8};
    };
    jobs::Job job;
    job.kind = &kind;
    job.replicas["Master"].replicas = 1;
    job.replicas["Worker"].replicas = 5;
    EXPECT_EQ(gang_size(job), 3) << "the master and two workers";
    job.replicas["Worker"].replicas = 1;
    EXPECT_EQ(gang_size(job), 2) << "nobody waits for pods that are not there";
    job.run_policy.scheduling_policy.emplace().min_available = 1;
    EXPECT_EQ(gang_size(job), 1);
}

}  // namespace
}  // namespace muster::operators::gang_test
