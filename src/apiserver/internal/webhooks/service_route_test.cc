#include "apiserver/internal/webhooks/service_route.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace muster::apiserver::service_route_test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

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

/// Where pods take connections to its port 443: one that is ready, one that is not, a second one, and
/// one that is being deleted.
std::vector<std::optional<std::uint16_t>> targets(const json::object& service) {
    std::vector<std::optional<std::uint16_t>> found;
    for (const kube::ObjectPtr& one :
         {pod("a", "hook"), pod("c", "hook", "False"), pod("d", "hook"),
          pod("e", "hook", "True", R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")")})
        found.push_back(target_at(one->get_object(), *service_port(service, 443).value()));
    return found;
}

TEST(ServiceRouteTest, ReadyPodsAtTheTargetPort) {
    struct Case {
        const char* ports;
        std::uint16_t expected;
    };
    for (const Case& c :
         {Case{R"([{"port":443}])", 443}, Case{R"([{"port":443,"targetPort":9443}])", 9443},
          Case{R"([{"port":80,"targetPort":1},{"port":443,"targetPort":"web"}])", 8443}})
        EXPECT_THAT(targets(service(c.ports)), ElementsAre(Optional(c.expected), std::nullopt,
                                                           Optional(c.expected), std::nullopt))
            << c.ports;
}

TEST(ServiceRouteTest, WhatPodsDoNotHave) {
    for (const char* ports :
         {R"([{"port":443,"targetPort":"none"}])", R"([{"port":443,"targetPort":70000}])"})
        EXPECT_THAT(targets(service(ports)), Each(std::nullopt)) << ports;
    const auto none = service_port(service(R"([{"port":80}])"), 443);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code(), Code::kNotFound);
    EXPECT_EQ(none.error().message(), "service \"s\" has no port 443");
}

TEST(ServiceRouteTest, WhichPodsItSelects) {
    const std::map<std::string, std::string> labels{{"app", "hook"}, {"x", "y"}};
    struct Case {
        const char* selector;
        bool expected;
    };
    for (const Case& c :
         {Case{R"({"app":"hook"})", true}, Case{R"({"app":"hook","x":"y"})", true},
          Case{R"({"app":"other"})", false}, Case{R"({"app":"hook","x":"z"})", false}}) {
        const json::object one = service("[]", c.selector);
        EXPECT_TRUE(has_selector(one));
        EXPECT_EQ(selector_for_pods(one).matches(labels), c.expected) << c.selector;
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
    const auto places = [&](std::uint16_t port, const kube::ObjectPtr& endpoints) {
        std::vector<NetworkPort> found;
        add_places(endpoints->get_object(), *service_port(named, port).value(), found);
        return found;
    };
    EXPECT_THAT(places(443, slice),
                ElementsAre(NetworkPort{"10.0.0.1", 9443}, NetworkPort{"10.0.0.3", 9443}));
    EXPECT_THAT(places(443, old), ElementsAre(NetworkPort{"10.0.0.4", 8443}));
    EXPECT_THAT(places(1, slice), IsEmpty());
    EXPECT_THAT(places(1, old), IsEmpty());
}

TEST(ServiceRouteTest, AnExternalNameStandsForAnother) {
    EXPECT_EQ(external_name_of(
                  json::parse(R"({"spec":{"type":"ExternalName","externalName":"localhost"}})")
                      .get_object()),
              "localhost");
    EXPECT_EQ(external_name_of(service("[]")), "");
}

}  // namespace
}  // namespace muster::apiserver::service_route_test
