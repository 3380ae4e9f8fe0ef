#include "operator/internal/integrations/gang_members.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <boost/json/serialize.hpp>

#include "jobs/gang.h"
#include "operator/internal/integrations/integration_fixture.h"

namespace muster::operators::gang_members_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct MemberRow {
    std::string name;
    std::string master;  ///< its priority class
    std::string worker;
    int min_available;
    std::vector<GangMembers> members;
};

TEST(GangMembers, TheHighestPriorityFirstAndThenTheKindsOrder) {
    const Priorities priorities{.values = {{"high", 100}, {"low", 10}}, .of_others = 50};
    for (const MemberRow& row : std::vector<MemberRow>{
             {"all", "", "", 4, {{"Master", 1}, {"Worker", 3}}},
             {"equal ones", "high", "high", 2, {{"Master", 1}, {"Worker", 1}}},
             {"workers first", "low", "high", 2, {{"Worker", 2}}},
             {"workers first, and then the master",
              "low",
              "high",
              4,
              {{"Worker", 3}, {"Master", 1}}},
             {"a class that there is not counts as zero", "none", "low", 2, {{"Worker", 2}}},
             {"no class is the default one", "low", "", 1, {{"Worker", 1}}},
             {"the default one is below", "high", "", 1, {{"Master", 1}}},
             {"nobody", "", "", 0, {}},
         }) {
        SCOPED_TRACE(row.name);
        const auto named = [](const std::string& priority) {
            return priority.empty() ? "" : fmt::format(R"("priorityClassName":"{}")", priority);
        };
        const jobs::Job job = integrated_job(
            fmt::format(R"({{"runPolicy":{{"schedulingPolicy":{{"minAvailable":{}}}}},
                             "pytorchReplicaSpecs":{{"Master":{},"Worker":{}}}}})",
                        row.min_available, replica(1, "", named(row.master)),
                        replica(3, "", named(row.worker))),
            "volcano");
        EXPECT_EQ(gang_members(job, gang_size(job), priorities), row.members);
        EXPECT_EQ(depends_on_priorities(job),
                  row.min_available < 4 && !(row.master + row.worker).empty());
    }
}

std::string mpi_replica(int count, std::string_view containers, std::string_view priority) {
    return fmt::format(
        R"({{"replicas":{},"template":{{"spec":{{"priorityClassName":"{}","containers":[{}]}}}}}})",
        count, priority, containers);
}
std::string container(std::string_view name, std::string_view cpu, std::string_view memory) {
    return fmt::format(
        R"({{"name":"{}","image":"i","resources":{{"requests":{{"cpu":"{}","memory":"{}"}}}}}})",
        name, cpu, memory);
}

struct SumRow {
    std::string name;
    std::string launcher;
    std::string worker;
    std::string policy;
    std::string sum;
};

// mpi-operator, TestCalculatePGMinResources and TestNewPodGroup.
TEST(GangMembers, TheSumsOfTheMpiOperator) {
    const Priorities priorities{.values = {{"high", 100'010}, {"low", 10'010}}};
    const std::string one = container("l", "1", "2Gi");
    for (const SumRow& row : std::vector<SumRow>{
             {"without priorityClass", mpi_replica(1, container("l", "2", "1Gi"), ""),
              mpi_replica(2, container("a", "10", "32Gi") + "," + container("b", "50", "512Gi"),
                          ""),
              "{}", R"({"cpu":"122","memory":"1089Gi"})"},
             {"with non-existence priorityClass",
              mpi_replica(1, container("l", "2", "2Gi"), "non-existence"),
              mpi_replica(2, container("w", "5", "16Gi"), "non-existence"), R"({"minAvailable":2})",
              R"({"cpu":"7","memory":"18Gi"})"},
             {"with existence priorityClass", mpi_replica(1, container("l", "2", "4Gi"), "high"),
              mpi_replica(100, container("w", "20", "64Gi"), "low"), R"({"minAvailable":2})",
              R"({"cpu":"22","memory":"68Gi"})"},
             {"schedulingPolicy is nil", mpi_replica(1, one, ""),
              mpi_replica(2, container("w", "10", "20Gi"), ""), "{}",
              R"({"cpu":"21","memory":"42Gi"})"},
             {"minResources is not empty", mpi_replica(1, one, ""), mpi_replica(1000, one, ""),
              R"({"minResources":{"cpu":"100","memory":"512Gi","example.com/gpu":"40"}})",
              R"({"cpu":"100","example.com/gpu":"40","memory":"512Gi"})"},
             {"minMember is 0", mpi_replica(1, one, ""), mpi_replica(2, one, ""),
              R"({"minAvailable":0})", "{}"},
         }) {
        SCOPED_TRACE(row.name);
        const jobs::Job job = integrated_job("v2beta1", "MPIJob",
                                             fmt::format(R"({{"launcherCreationPolicy":"AtStartup",
                             "runPolicy":{{"schedulingPolicy":{}}},
                             "mpiReplicaSpecs":{{"Launcher":{},"Worker":{}}}}})",
                                                         row.policy, row.launcher, row.worker),
                                             "volcano");
        EXPECT_EQ(json::serialize(to_json(min_resources(job, priorities))), row.sum);
    }
}

TEST(GangMembers, WhoStartsLaterIsNoneOfThem) {
    const jobs::Job job =
        integrated_job("v2beta1", "MPIJob",
                       fmt::format(R"({{"mpiReplicaSpecs":{{"Launcher":{},"Worker":{}}}}})",
                                   mpi_replica(1, container("l", "1", "1Gi"), ""),
                                   mpi_replica(2, container("w", "10", "20Gi"), "")),
                       "volcano");
    EXPECT_THAT(gang_members(job, gang_size(job), {}), ElementsAre(GangMembers{"Worker", 2}));
}

}  // namespace
}  // namespace muster::operators::gang_members_test
