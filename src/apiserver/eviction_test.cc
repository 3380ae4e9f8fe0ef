#include "apiserver/server_fixture.h"

namespace muster::apiserver::eviction_test {
namespace {

class EvictionTest : public ServerFixture {
  protected:
    void SetUp() override {
        ASSERT_EQ(post(kPods, pod("p", "", R"(,"nodeName":"n1")")).status, 201);
    }

    const std::string kPods = "/api/v1/namespaces/default/pods";
    const std::string kEviction = kPods + "/p/eviction";
};

TEST_F(EvictionTest, APodThatRunsIsToldToEndAndSaysWhy) {
    const kube::Response evicted =
        post(kEviction, R"({"metadata":{"name":"p"},"deleteOptions":{"gracePeriodSeconds":7}})");
    EXPECT_EQ(evicted.status, 201);
    EXPECT_EQ(at(evicted, "status"), "Success");
    EXPECT_EQ(at(evicted, "code"), 201);
    const kube::Response stored = get(kPods + "/p");
    EXPECT_EQ(at(stored, "metadata.deletionGracePeriodSeconds"), 7);
    EXPECT_NE(at(stored, "metadata.deletionTimestamp"), json::value());
    const json::value conditions = at(stored, "status.conditions");
    ASSERT_TRUE(conditions.is_array());
    EXPECT_EQ(conditions.get_array().back().at("type"), "DisruptionTarget");
    EXPECT_EQ(conditions.get_array().back().at("reason"), "EvictionByEvictionAPI");
}

TEST_F(EvictionTest, APodWithoutANodeIsGoneAtOnce) {
    post(kPods, pod("q"));
    EXPECT_EQ(post(kPods + "/q/eviction", "{}").status, 201);
    EXPECT_EQ(get(kPods + "/q").status, 404);
}

TEST_F(EvictionTest, ADryRunChangesNothing) {
    const std::string before = text(get(kPods + "/p"));
    EXPECT_EQ(post(kEviction, R"({"deleteOptions":{"dryRun":["All"]}})").status, 201);
    EXPECT_EQ(post(kEviction, "{}", {{"dryRun", "All"}}).status, 201);
    EXPECT_EQ(text(get(kPods + "/p")), before);
}

TEST_F(EvictionTest, WhatIsNotMeantStays) {
    EXPECT_EQ(post(kPods + "/none/eviction", "{}").status, 404);
    const kube::Response other = post(kEviction, R"({"metadata":{"name":"other"}})");
    EXPECT_EQ(other.status, 400);
    EXPECT_EQ(message(other), "name in URL does not match name in Eviction object");
    EXPECT_EQ(post(kEviction, R"({"deleteOptions":{"preconditions":{"uid":"u"}}})").status, 409);
    EXPECT_EQ(
        post(kEviction, R"({"deleteOptions":{"preconditions":{"resourceVersion":"1"}}})").status,
        409);
    EXPECT_EQ(get(kEviction).status, 405);
    EXPECT_EQ(at(get(kPods + "/p"), "metadata.deletionTimestamp"), json::value());
    EXPECT_EQ(at(get(kPods + "/p"), "status.conditions"), json::value());
}

}  // namespace
}  // namespace muster::apiserver::eviction_test
