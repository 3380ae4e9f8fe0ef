#include "apiserver/object_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace muster::apiserver::object_rules_test {
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
        {"DNS that can't work",
         kube::types::kPods,
         R"({"metadata":{"name":"p"},
             "spec":{"containers":[{"name":"c","image":"i"}],"dnsConfig":{
                 "nameservers":["ns.example","2001:db8::53"],"options":[{"value":"1"}],
                 "searches":["a b","_tcp.example.com",".","lan."]}}})",
         {"spec.dnsConfig.nameservers[0]", "spec.dnsConfig.searches[0]",
          "spec.dnsConfig.options[0]"}},
        {"more name servers than the C library asks",
         kube::types::kPods,
         R"({"metadata":{"name":"p"},
             "spec":{"containers":[{"name":"c","image":"i"}],"dnsConfig":{
                 "nameservers":["192.0.2.1","192.0.2.2","192.0.2.3","192.0.2.4"]}}})",
         {"spec.dnsConfig.nameservers"}},
        {"DNS of the pod's own that names none",
         kube::types::kPods,
         R"({"metadata":{"name":"p"},
             "spec":{"containers":[{"name":"c","image":"i"}],"dnsPolicy":"None"}})",
         {"spec.dnsConfig"}},
        {"DNS of the pod's own without a server",
         kube::types::kPods,
         R"({"metadata":{"name":"p"},
             "spec":{"containers":[{"name":"c","image":"i"}],"dnsPolicy":"None",
                     "dnsConfig":{"searches":["lan"]}}})",
         {"spec.dnsConfig.nameservers"}},
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
}  // namespace muster::apiserver::object_rules_test
