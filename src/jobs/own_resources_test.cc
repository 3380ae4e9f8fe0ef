#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "jobs/internal/test_kinds.h"
#include "jobs/scale_plan.h"

namespace muster::jobs::own_resources_test {
namespace {

kube::ResourceList amounts(std::map<std::string, std::string> all) {
    kube::ResourceList list;
    for (const auto& [name, amount] : all) list.emplace(name, json::value(amount));
    return list;
}

TEST(OwnResources, OfATemplateAreItsLimitsElseItsRequests) {
    kube::Container container;
    EXPECT_EQ(ownable_amounts(container), amounts({}));
    container.resources.requests =
        amounts({{"cpu", "1"}, {"memory", "1Gi"}, {"nvidia.com/gpu", "1"}});
    container.resources.limits = amounts({{"memory", "2Gi"}, {"ephemeral-storage", "5Gi"}});
    EXPECT_EQ(ownable_amounts(container), amounts({{"cpu", "1"}, {"memory", "2Gi"}}));
}

TEST(OwnResources, CountUntilTheTemplateHasAnotherAmount) {
    const OwnResources own{.resource = amounts({{"cpu", "4"}, {"memory", "8Gi"}}),
                           .instead_of = amounts({{"memory", "2Gi"}})};
    struct Row {
        kube::ResourceList written;
        kube::ResourceList in_effect;
    };
    for (const Row& row : std::vector<Row>{
             {amounts({{"memory", "2Gi"}}), own.resource},
             {amounts({{"memory", "2048Mi"}}), own.resource},
             {amounts({{"memory", "4Gi"}}), amounts({{"cpu", "4"}})},
             {amounts({{"memory", "2Gi"}, {"cpu", "1"}}), amounts({{"memory", "8Gi"}})},
             {amounts({}), amounts({{"cpu", "4"}})},
             {amounts({{"memory", "much"}, {"cpu", "1"}}), amounts({})},
         })
        EXPECT_EQ(in_effect(own, row.written), row.in_effect);
}

TEST(OwnResources, AreChangedOneByOne) {
    const OwnResources before{.resource = amounts({{"cpu", "4"}, {"memory", "8Gi"}}),
                              .instead_of = amounts({{"cpu", "1"}, {"memory", "2Gi"}})};
    const kube::ResourceList written = amounts({{"cpu", "2"}, {"memory", "2Gi"}});
    EXPECT_EQ(with_amounts(before, amounts({{"memory", "16Gi"}}), written),
              (OwnResources{.resource = amounts({{"memory", "16Gi"}}),
                            .instead_of = amounts({{"memory", "2Gi"}})}))
        << "the other one has ended";
    EXPECT_EQ(with_amounts({}, amounts({{"cpu", "3"}}), {}),
              (OwnResources{.resource = amounts({{"cpu", "3"}}), .instead_of = {}}));
}

TEST(OwnResources, AreRequestAndLimitOfThePodsMainContainer) {
    const JobKind& kind = *find_kind("elastic.iml.github.io/v1alpha1", "ElasticJob");
    const Job job =
        load(kind,
             manifest_of(kind, {{{"worker", 1}},
                                {{"spec/replicaSpecs/worker/template/spec/containers",
                                  R"([{"name": "side", "image": "X"}, {"name": "main", "image": "X",
                                       "resources": {"requests": {"cpu": "1", "nvidia.com/gpu": 2}}
                                      }])"}}}))
            .value();
    const kube::Pod pod =
        build_pod(job, {"worker", 0}, {}, amounts({{"cpu", "2"}, {"memory", "1Gi"}})).value();
    const kube::ResourceRequirements& main = pod.spec.containers.at(1).resources;
    EXPECT_EQ(main.limits, amounts({{"cpu", "2"}, {"memory", "1Gi"}}));
    EXPECT_EQ(main.requests.at("cpu"), json::value("2"));
    EXPECT_EQ(main.requests.at("memory"), json::value("1Gi"));
    EXPECT_EQ(main.requests.at("nvidia.com/gpu"), json::value(2));
    EXPECT_TRUE(pod.spec.containers.at(0).resources.requests.empty());
}

}  // namespace
}  // namespace muster::jobs::own_resources_test
