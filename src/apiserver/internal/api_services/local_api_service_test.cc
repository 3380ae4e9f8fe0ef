#include "apiserver/internal/api_services/local_api_service.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "apiserver/registry_fixture.h"

namespace muster::apiserver::local_api_service_test {
namespace {

class LocalApiService : public ::testing::Test, protected RegistryFixture {};

TEST_F(LocalApiService, SaysWhereTheVersionStands) {
    EXPECT_EQ(json::value(local_api_service(*registry_.find("apps/v1", "deployments"))),
              json::parse(R"({"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService",
                "metadata":{"name":"v1.apps",
                  "labels":{"kube-aggregator.kubernetes.io/automanaged":"onstart"}},
                "spec":{"version":"v1","groupPriorityMinimum":17800,"versionPriority":15,
                  "group":"apps"}})"));
    EXPECT_EQ(json::value(local_api_service(*registry_.find("v1", "pods"))),
              json::parse(R"({"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService",
                "metadata":{"name":"v1.",
                  "labels":{"kube-aggregator.kubernetes.io/automanaged":"onstart"}},
                "spec":{"version":"v1","groupPriorityMinimum":18000,"versionPriority":1}})"));
    define("things", "Thing", "a.org", R"({"name":"v1beta1","served":true,"storage":true})");
    const json::object custom = local_api_service(*registry_.find("a.org/v1beta1", "things"));
    EXPECT_EQ(custom.at("metadata"), json::parse(R"({"name":"v1beta1.a.org",
                  "labels":{"kube-aggregator.kubernetes.io/automanaged":"true"}})"));
    EXPECT_EQ(custom.at("spec").at("groupPriorityMinimum"), 1000);
}

TEST_F(LocalApiService, EachOfOurVersionsHasAPriority) {
    for (const auto& [api_version, defs] : registry_.served())
        if (!defs.front()->is_metrics)
            EXPECT_GT(
                local_api_service(*defs.front()).at("spec").at("groupPriorityMinimum").as_int64(),
                1000)
                << api_version;
}

TEST_F(LocalApiService, ItsNameIsThatOfTheVersion) {
    EXPECT_EQ(api_service_name("", "v1"), "v1.");
    for (const char* version : {"v1", "apps/v1", "a.b.org/v1beta1"}) {
        const std::string text(version);
        const std::size_t slash = text.find('/');
        const std::string name =
            slash == text.npos ? api_service_name("", text)
                               : api_service_name(text.substr(0, slash), text.substr(slash + 1));
        EXPECT_EQ(api_version_of(name), version);
    }
    EXPECT_EQ(api_version_of(""), "");
    EXPECT_EQ(api_version_of("v1"), "v1");
}

// The table of upstream's autoregister controller.
TEST_F(LocalApiService, WhatIsDoneAboutOne) {
    const auto object = [](std::string_view label, int priority = 1) {
        return json::parse(fmt::format(
                               R"({{"metadata":{{"labels":{{
                                   "kube-aggregator.kubernetes.io/automanaged":"{}"}}}},
                                   "spec":{{"versionPriority":{}}}}})",
                               label, priority))
            .get_object();
    };
    const json::object once = object("onstart");
    const json::object always = object("true");
    const json::object other_once = object("onstart", 2);
    const json::object other_always = object("true", 2);
    const json::object free = object("no", 2);
    using enum Registration;
    struct Case {
        RegistrationState state;
        Registration expected;
    };
    const std::vector<Case> cases = {
        {{}, kLeave},
        {{.wanted = &once}, kCreate},
        {{.wanted = &once, .synced = true}, kLeave},
        {{.wanted = &always}, kCreate},
        {{.wanted = &always, .synced = true}, kCreate},
        {{.current = &free}, kLeave},
        {{.wanted = &once, .current = &free}, kLeave},
        {{.wanted = &always, .current = &free}, kLeave},
        {{.current = &once}, kLeave},
        {{.current = &once, .was_at_start = true}, kDelete},
        {{.wanted = &once, .current = &other_once}, kLeave},
        {{.wanted = &once, .current = &other_once, .was_at_start = true}, kUpdate},
        {{.wanted = &once, .current = &other_once, .was_at_start = true, .synced = true}, kLeave},
        {{.wanted = &once, .current = &once, .was_at_start = true}, kLeave},
        {{.current = &always}, kDelete},
        {{.wanted = &always, .current = &other_always}, kUpdate},
        {{.wanted = &always, .current = &always}, kLeave},
    };
    for (std::size_t i = 0; i < cases.size(); ++i)
        EXPECT_EQ(decide_registration(cases[i].state), cases[i].expected) << "case " << i;
}

}  // namespace
}  // namespace muster::apiserver::local_api_service_test
