#include "apiserver/internal/webhooks/service_route.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace muster::apiserver {
namespace {

using testing::ElementsAre;

kube::ObjectPtr pod(std::string_view name, std::string_view label, std::string_view ready = "True",
                    std::string_view meta = "") {
    return std::make_shared<const json::value>(json::parse(fmt::format(
        R"({{"metadata":{{"name":"{}","labels":{{"app":"{}","x":"y"}}{}}},
            "spec":{{"containers":[{{"name":"a"}},{{"name":"b","ports":[
                {{"name":"web","containerPort":8443}}]}}]}},
            "status":{{"phase":"Running","conditions":[{{"type":"Ready","status":"{}"}}]}}}})",
        name, label, meta, ready)));
}

json::object service(std::string_view ports, std::string_view selector = R"({"app":"hook"})") {
    return json::parse(
               fmt::format(R"({{"metadata":{{"name":"s"}},"spec":{{"selector":{},"ports":{}}}}})",
                           selector, ports))
        .get_object();
}

const std::vector<kube::ObjectPtr> kPods{
    pod("a", "hook"), pod("b", "other"), pod("c", "hook", "False"), pod("d", "hook"),
    pod("e", "hook", "True", R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")")};

TEST(ServiceRouteTest, ReadyPodsThatAreSelectedAtTheTargetPort) {
    struct Case {
        const char* ports;
        std::uint16_t expected;
    };
    for (const Case& c :
         {Case{R"([{"port":443}])", 443}, Case{R"([{"port":443,"targetPort":9443}])", 9443},
          Case{R"([{"port":80,"targetPort":1},{"port":443,"targetPort":"web"}])", 8443}})
        EXPECT_THAT(*pods_behind(service(c.ports), 443, kPods),
                    ElementsAre(ServicePod{"a", c.expected}, ServicePod{"d", c.expected}))
            << c.ports;
}

TEST(ServiceRouteTest, WhyThereIsNone) {
    struct Case {
        json::object service;
        Code code;
        const char* message;
    };
    const Case cases[] = {
        {service(R"([{"port":443}])", R"({"app":"none"})"), Code::kUnavailable,
         "no endpoints available for service \"s\""},
        {service(R"([{"port":443}])", R"({"app":"hook","x":"z"})"), Code::kUnavailable,
         "no endpoints available for service \"s\""},
        {service(R"([{"port":443,"targetPort":"none"}])"), Code::kUnavailable,
         "no endpoints available for service \"s\""},
        {service(R"([{"port":443,"targetPort":70000}])"), Code::kUnavailable,
         "no endpoints available for service \"s\""},
        {service(R"([{"port":80}])"), Code::kNotFound, "service \"s\" has no port 443"},
    };
    for (const Case& c : cases) {
        const auto behind = pods_behind(c.service, 443, kPods);
        ASSERT_FALSE(behind) << c.message;
        EXPECT_EQ(behind.error().code(), c.code);
        EXPECT_EQ(behind.error().message(), c.message);
    }
}

kube::ObjectPtr object(std::string_view text) {
    return std::make_shared<const json::value>(json::parse(text));
}

TEST(ServiceRouteTest, WithoutASelectorItLeadsToItsEndpoints) {
    const json::object named =
        service(R"([{"name":"web","port":443},{"name":"x","port":1}])", "{}");
    EXPECT_FALSE(has_selector(named));
    const kube::ObjectPtr slice = object(R"({"ports":[{"name":"web","port":9443}],"endpoints":[
        {"addresses":["10.0.0.1"]},{"addresses":["10.0.0.2"],"conditions":{"ready":false}},
        {"addresses":["10.0.0.3"],"conditions":{"ready":true}},{"addresses":[]}]})");
    const kube::ObjectPtr old = object(R"({"subsets":[{"addresses":[{"ip":"10.0.0.4"}],
        "notReadyAddresses":[{"ip":"10.0.0.5"}],"ports":[{"name":"web","port":8443}]}]})");
    EXPECT_THAT(places_behind(named, 443, {slice}).value(),
                ElementsAre(NetworkPort{"10.0.0.1", 9443}, NetworkPort{"10.0.0.3", 9443}));
    EXPECT_THAT(places_behind(named, 443, {old}).value(),
                ElementsAre(NetworkPort{"10.0.0.4", 8443}));
    EXPECT_EQ(places_behind(named, 1, {slice, old}).error().message(),
              "no endpoints available for service \"s\"");
    EXPECT_EQ(places_behind(named, 2, {slice}).error().code(), Code::kNotFound);
}

TEST(ServiceRouteTest, AnExternalNameStandsForAnother) {
    EXPECT_EQ(external_name_of(
                  json::parse(R"({"spec":{"type":"ExternalName","externalName":"localhost"}})")
                      .get_object()),
              "localhost");
    EXPECT_EQ(external_name_of(service("[]")), "");
}

}  // namespace
}  // namespace muster::apiserver
