#include "apiserver/internal/endpoints/pod_endpoint.h"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "kube/values/json_access.h"

namespace muster::apiserver::pod_endpoint_test {
namespace {

json::object parsed(std::string_view text) { return json::parse(text).get_object(); }
json::object service(std::string_view spec) {
    return parsed(fmt::format(R"({{"metadata":{{"name":"s","namespace":"n"}},"spec":{}}})", spec));
}
json::object pod_at(std::string_view name, std::string_view ip, bool ready = true,
                    std::string_view phase = "Running") {
    return parsed(fmt::format(
        R"({{"metadata":{{"name":"{0}","namespace":"n","uid":"uid-{0}"}},
             "spec":{{"nodeName":"m","containers":[{{"ports":[
               {{"name":"web","containerPort":8080,"protocol":"TCP"}}]}}]}},
             "status":{{"phase":"{3}","podIP":"{1}","conditions":[
               {{"type":"Ready","status":"{2}"}}]}}}})",
        name, ip, ready ? "True" : "False", phase));
}
const char* kWeb = R"({"clusterIP":"10.0.0.1","selector":{"a":"b"},
                       "ports":[{"port":80,"targetPort":"web"}]})";

PodEndpoints pods_of(const json::object& of, int count) {
    PodEndpoints pods;
    for (int i = 0; i < count; ++i) {
        const std::string name = fmt::format("p{:03}", i);
        pods.emplace(name, *pod_endpoint(of, pod_at(name, fmt::format("10.0.1.{}", i))));
    }
    return pods;
}

/// The slices after the changes.
std::vector<Slice> changed(std::vector<Slice> slices, SliceChanges changes) {
    for (const std::string& name : changes.removed)
        std::erase_if(slices, [&](const Slice& slice) { return slice.name == name; });
    for (Slice& written : changes.written) {
        std::erase_if(slices, [&](const Slice& slice) { return slice.name == written.name; });
        if (written.name.empty()) written.name = fmt::format("slice-{}", slices.size());
        slices.push_back(std::move(written));
    }
    return slices;
}
std::vector<std::size_t> sizes(const std::vector<Slice>& slices) {
    std::vector<std::size_t> all;
    for (const Slice& slice : slices) all.push_back(slice.endpoints.size());
    return all;
}

TEST(PodEndpoint, WhichPodsAndServicesHaveOne) {
    const json::object web = service(kWeb);
    EXPECT_TRUE(pod_endpoint(web, pod_at("p", "10.0.1.1")));
    EXPECT_FALSE(pod_endpoint(web, pod_at("p", "")));
    for (const char* ended : {"Succeeded", "Failed"})
        EXPECT_FALSE(pod_endpoint(web, pod_at("p", "10.0.1.1", true, ended)));
    EXPECT_TRUE(has_endpoints(web));
    EXPECT_FALSE(has_endpoints(service("{}")));
    EXPECT_FALSE(has_endpoints(service(R"({"selector":{}})")));
    EXPECT_FALSE(has_endpoints(service(R"({"selector":{"a":"b"},"type":"ExternalName"})")));
    json::object of_job = web;
    of_job["metadata"].get_object()["ownerReferences"] =
        json::parse(R"([{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","controller":true}])");
    EXPECT_FALSE(has_endpoints(of_job));
}

TEST(PodEndpoint, SubsetsHaveAThousandAddressesAtMost) {
    const json::object web = service(kWeb);
    PodEndpoints pods = pods_of(web, 1200);
    const json::array subsets = subsets_of(web, pods);
    ASSERT_EQ(subsets.size(), 1U);
    EXPECT_EQ(subsets[0].at("addresses").get_array().size(), 1000U);
}

TEST(SliceChanges, EachEndpointStaysWhereItIs) {
    const json::object web = service(kWeb);
    std::vector<Slice> slices = changed({}, slice_changes(web, {}, {}));
    EXPECT_THAT(sizes(slices), ::testing::ElementsAre(0));

    PodEndpoints pods = pods_of(web, 250);
    slices = changed(slices, slice_changes(web, pods, slices));
    EXPECT_THAT(sizes(slices), ::testing::ElementsAre(100, 100, 50));
    EXPECT_TRUE(slice_changes(web, pods, slices).written.empty());

    // One less changes one slice, and the next new one takes its place.
    pods.erase("p010");
    SliceChanges less = slice_changes(web, pods, slices);
    EXPECT_EQ(less.written.size(), 1U);
    slices = changed(slices, std::move(less));
    pods.emplace("new", *pod_endpoint(web, pod_at("new", "10.0.2.1")));
    SliceChanges more = slice_changes(web, pods, slices);
    ASSERT_EQ(more.written.size(), 1U);
    EXPECT_TRUE(more.removed.empty());
    slices = changed(slices, std::move(more));

    // Without pods one slice is left.
    slices = changed(slices, slice_changes(web, {}, slices));
    EXPECT_THAT(sizes(slices), ::testing::ElementsAre(0));
    EXPECT_TRUE(slice_changes(web, {}, slices).written.empty());
    EXPECT_TRUE(slice_changes(web, {}, slices).removed.empty());
}

}  // namespace
}  // namespace muster::apiserver::pod_endpoint_test
