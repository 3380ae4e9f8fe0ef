#include "kube/objects/pod_requests.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "kube/objects/codec.h"

namespace muster::kube::pod_requests_test {
namespace {

struct RequestsRow {
    std::string name;
    std::string spec;
    std::string requests;  ///< as JSON
};

TEST(PodRequests, AreWhatASchedulerSetsAside) {
    for (const RequestsRow& row : std::vector<RequestsRow>{
             {"nothing", R"({"containers":[{"name":"a"}]})", "{}"},
             {"containers together",
              R"({"containers":[{"name":"a","resources":{"requests":{"cpu":"1","memory":"1Gi"}}},
                                {"name":"b","resources":{"requests":{"cpu":"500m"}}}]})",
              R"({"cpu":"1500m","memory":"1Gi"})"},
             // mpi-operator, TestAddResources.
             {"same resource names exist in requests and limits",
              R"({"containers":[{"name":"a","resources":{
                  "requests":{"cpu":"10","memory":"16Gi"},
                  "limits":{"example.com/gpu":"8","cpu":"20","memory":"32Gi"}}}]})",
              R"({"cpu":"10","example.com/gpu":"8","memory":"16Gi"})"},
             {"an init container that needs more",
              R"({"initContainers":[{"name":"i","resources":{"requests":{"cpu":"4"}}},
                                    {"name":"j","resources":{"requests":{"memory":"1Gi"}}}],
                  "containers":[{"name":"a","resources":{"requests":{"cpu":"1","memory":"2Gi"}}}]})",
              R"({"cpu":"4","memory":"2Gi"})"},
             {"sidecars count with the containers, and with the init containers after them",
              R"({"initContainers":[
                    {"name":"i","resources":{"requests":{"cpu":"3"}}},
                    {"name":"s","restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}},
                    {"name":"j","resources":{"requests":{"cpu":"3"}}}],
                  "containers":[{"name":"a","resources":{"requests":{"cpu":"2"}}}]})",
              R"({"cpu":"4"})"},
             {"sidecars beside a large container",
              R"({"initContainers":[
                    {"name":"s","restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}}],
                  "containers":[{"name":"a","resources":{"requests":{"cpu":"6"}}}]})",
              R"({"cpu":"7"})"},
             {"overhead",
              R"({"overhead":{"cpu":"250m","memory":"120Mi"},
                  "containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]})",
              R"({"cpu":"1250m","memory":"120Mi"})"},
             {"what the pod asks for as a whole",
              R"({"resources":{"requests":{"cpu":"8","example.com/gpu":"1"},
                               "limits":{"cpu":"9","memory":"4Gi"}},
                  "containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}},
                                {"name":"b","resources":{"requests":{"example.com/gpu":"2"}}}]})",
              R"({"cpu":"8","example.com/gpu":"2","memory":"4Gi"})"},
             {"numbers", R"({"containers":[{"name":"a","resources":{"limits":{"cpu":2}}}]})",
              R"({"cpu":"2"})"},
         }) {
        SCOPED_TRACE(row.name);
        PodSpec spec;
        std::vector<Cause> problems;
        decode_into(json::parse(row.spec), spec, "spec", problems);
        EXPECT_TRUE(problems.empty());
        EXPECT_EQ(json::serialize(to_json(pod_requests(spec))), row.requests);
    }
}

TEST(PodRequests, SidecarsCountBesideWhatRunsWithThem) {
    PodSpec spec;
    spec.containers.resize(1);
    spec.containers[0].resources.requests["cpu"] = "500m";
    spec.init_containers.resize(3);
    spec.init_containers[0].resources.requests["cpu"] = 1;
    spec.init_containers[0].restart_policy = "Always";
    EXPECT_EQ(pod_requests(spec)["cpu"].ceil_milli(), 1500);
    spec.init_containers[1].resources.requests["cpu"] = "700m";
    EXPECT_EQ(pod_requests(spec)["cpu"].ceil_milli(), 1700);
    spec.init_containers[2].resources.requests["cpu"] = 1;
    spec.init_containers[2].restart_policy = "Always";
    EXPECT_EQ(pod_requests(spec)["cpu"].ceil_milli(), 2500);
}

TEST(PodRequests, SumOfContainersOrTheLargestInitContainer) {
    PodSpec spec;
    spec.containers.resize(2);
    spec.containers[0].resources.requests["cpu"] = "500m";
    spec.containers[1].resources.limits["cpu"] = 1;
    spec.init_containers.resize(2);
    spec.init_containers[0].resources.requests["cpu"] = 1;
    spec.init_containers[1].resources.requests["memory"] = "1Gi";
    auto requests = pod_requests(spec);
    EXPECT_EQ(requests["cpu"].ceil_milli(), 1500);
    EXPECT_EQ(requests["memory"].ceil_units(), 1 << 30);
}

TEST(PodRequests, ManyTimes) {
    const Amounts one{{"cpu", Quantity::from_milli(1500)}};
    for (const auto& [count, sum] : std::vector<std::pair<std::int32_t, std::string>>{
             {0, "1"}, {1, "2500m"}, {2, "4"}, {7, "11500m"}, {100'000, "150001"}}) {
        Amounts total{{"cpu", Quantity::from_units(1)}};
        add_times(total, one, count);
        EXPECT_EQ(total["cpu"].to_string(), sum);
    }
}

}  // namespace
}  // namespace muster::kube::pod_requests_test
