#include "apiserver/object_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace muster::apiserver {
namespace {

TEST(ObjectRules, AreThoseOfACreation) {
    const struct {
        const char* what;
        kube::ResourceType type;
        const char* object;
        std::vector<std::string> fields;
    } kCases[] = {
        {"a pod with little more than a container",
         kube::types::kPods,
         R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}})",
         {}},
        {"every fault of a pod",
         kube::types::kPods,
         R"({"metadata":{"name":"p","annotations":{"a b":"c"}},
             "spec":{"dnsPolicy":"Odd","containers":[{"name":"C","image":"i"}]}})",
         {"metadata.annotations", "spec.containers[0].name", "spec.dnsPolicy"}},
        {"a field that is missing",
         kube::types::kPods,
         R"({"metadata":{"name":"p"}})",
         {"spec.containers"}},
        {"a field that is unknown is not a fault",
         kube::types::kConfigMaps,
         R"({"metadata":{"name":"c"},"date":{}})",
         {}},
        {"a wrong type", kube::types::kConfigMaps, R"({"metadata":{"name":"c"},"data":[]})", {""}},
        {"a service's name",
         kube::types::kServices,
         R"({"metadata":{"name":"1s"},"spec":{"ports":[{"port":80}]}})",
         {"metadata.name"}},
        {"a kind that is not built in", {"ex.org", "v1", "things", "Thing", true}, R"({})", {}},
    };
    for (const auto& row : kCases) {
        std::vector<std::string> fields;
        for (const Cause& cause : field_errors_of(row.type, json::parse(row.object)))
            fields.push_back(cause.field);
        EXPECT_THAT(fields, ::testing::ElementsAreArray(row.fields)) << row.what;
    }
}

}  // namespace
}  // namespace muster::apiserver
