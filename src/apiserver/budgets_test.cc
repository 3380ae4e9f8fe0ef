#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "apiserver/server_fixture.h"
#include "base/async/task_fault.h"

namespace muster::apiserver::budgets_test {
namespace {

class BudgetsTest : public ServerFixture {
  protected:
    void make_pod(const std::string& name, std::string_view more = "") {
        ASSERT_EQ(post(kPods, pod(name, fmt::format(R"(,"labels":{{"app":"a"}}{})", more),
                                  R"(,"nodeName":"n1")"))
                      .status,
                  201);
        set_ready(name, true);
    }
    void set_ready(const std::string& name, bool ready) {
        ASSERT_EQ(merge_patch(kPods + "/" + name + "/status",
                              fmt::format(R"({{"status":{{"phase":"Running","conditions":[
                                  {{"type":"Ready","status":"{}"}}]}}}})",
                                          ready ? "True" : "False"))
                      .status,
                  200);
    }
    void make_budget(const std::string& name, std::string_view spec) {
        const kube::Response made =
            post(kBudgets, fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{"selector":{{
                "matchLabels":{{"app":"a"}}}},{}}}}})",
                                       name, spec));
        ASSERT_EQ(made.status, 201) << text(made);
        EXPECT_EQ(at(made, "status.disruptionsAllowed"), 0);
        settle();
    }
    /// "allowed healthy desired expected".
    std::string numbers(const std::string& name) {
        settle();
        const kube::Response budget = get(kBudgets + "/" + name);
        return fmt::format("{} {} {} {}", string_at_path(budget, "status.disruptionsAllowed"),
                           string_at_path(budget, "status.currentHealthy"),
                           string_at_path(budget, "status.desiredHealthy"),
                           string_at_path(budget, "status.expectedPods"));
    }
    kube::Response evict(const std::string& name, std::string_view body = "{}", Query query = {}) {
        return post(kPods + "/" + name + "/eviction", body, std::move(query));
    }
    static std::string cause(const kube::Response& response) {
        const json::value causes = at(response, "details.causes");
        if (!causes.is_array()) return text(response);
        const json::value& first = causes.get_array().front();
        return fmt::format("{}: {}", std::string_view(first.at("reason").as_string()),
                           std::string_view(first.at("message").as_string()));
    }

    const std::string kPods = "/api/v1/namespaces/default/pods";
    const std::string kBudgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
};

TEST_F(BudgetsTest, TheStatusFollowsThePods) {
    make_pod("a");
    make_budget("x", R"("minAvailable":1)");
    EXPECT_EQ(numbers("x"), "0 1 1 1");
    make_pod("b");
    EXPECT_EQ(numbers("x"), "1 2 1 2");
    set_ready("b", false);
    EXPECT_EQ(numbers("x"), "0 1 1 2");
    set_ready("b", true);
    merge_patch(kPods + "/b", R"({"metadata":{"labels":{"app":"other"}}})");
    EXPECT_EQ(numbers("x"), "0 1 1 1");
    merge_patch(kBudgets + "/x", R"({"spec":{"minAvailable":0}})");
    EXPECT_EQ(numbers("x"), "1 1 0 1");
    const kube::Response budget = get(kBudgets + "/x");
    EXPECT_EQ(at(budget, "status.observedGeneration"), at(budget, "metadata.generation"));
    const std::string before = revision(budget);
    merge_patch(kPods + "/a", R"({"metadata":{"labels":{"more":"b"}}})");
    settle();
    EXPECT_EQ(revision(get(kBudgets + "/x")), before) << "nothing that counts has changed";
    merge_patch(kBudgets + "/x", R"({"spec":{"selector":{"matchLabels":{"app":"other"}}}})");
    EXPECT_EQ(numbers("x"), "1 1 0 1") << "now it is about b";
    remove(kPods + "/b", R"({"gracePeriodSeconds":0})");
    EXPECT_EQ(numbers("x"), "0 0 0 0");
}

TEST_F(BudgetsTest, AnEvictionIsTakenFromTheBudget) {
    for (const char* name : {"a", "b", "c"}) make_pod(name);
    make_budget("x", R"("minAvailable":2)");
    EXPECT_EQ(evict("a", "{}", {{"dryRun", "All"}}).status, 201);
    EXPECT_EQ(numbers("x"), "1 3 2 3") << "a dry run takes nothing";
    EXPECT_EQ(evict("a").status, 201);
    EXPECT_EQ(numbers("x"), "0 2 2 3") << "it is on its way out";
    const kube::Response refused = evict("b");
    EXPECT_EQ(refused.status, 429);
    EXPECT_EQ(message(refused),
              "Cannot evict pod as it would violate the pod's disruption budget.");
    EXPECT_EQ(cause(refused),
              "DisruptionBudget: The disruption budget x needs 2 healthy pods and has 2 currently");
    EXPECT_EQ(evict("b", "{}", {{"dryRun", "All"}}).status, 429);
    EXPECT_EQ(at(get(kPods + "/b"), "metadata.deletionTimestamp"), json::value());
    EXPECT_EQ(evict("a").status, 201) << "it goes already";
}

TEST_F(BudgetsTest, EvictionsAtTheSameTimeTakeNoMoreThanThereIs) {
    for (const char* name : {"a", "b", "c"}) make_pod(name);
    make_budget("x", R"("minAvailable":2)");
    std::vector<int> statuses;
    const auto evict_one = [](ApiServer& server, std::string path,
                              std::vector<int>& seen) -> Task<void> {
        kube::Request request;
        request.method = kube::Method::kPost;
        request.path = std::move(path);
        request.body = parse("{}");
        const Result<kube::Response> answer = co_await server.call(std::move(request));
        seen.push_back(answer ? answer->status : 0);
    };
    for (const char* name : {"a", "b", "c"})
        asio::co_spawn(context, evict_one(*server_, kPods + "/" + name + "/eviction", statuses),
                       asio::detached);
    settle();
    std::ranges::sort(statuses);
    EXPECT_EQ(statuses, (std::vector{201, 429, 429}));
}

TEST_F(BudgetsTest, WhatIsNotReadyGoesAsThePolicySays) {
    for (const char* name : {"a", "b"}) make_pod(name);
    set_ready("b", false);
    make_budget("x", R"("minAvailable":2)");
    EXPECT_EQ(evict("b").status, 429);
    merge_patch(kBudgets + "/x", R"({"spec":{"unhealthyPodEvictionPolicy":"AlwaysAllow"}})");
    EXPECT_EQ(evict("b").status, 201);
    EXPECT_EQ(evict("a").status, 429);
}

TEST_F(BudgetsTest, TwoBudgetsForOnePodAreAnError) {
    make_pod("a");
    make_budget("x", R"("minAvailable":0)");
    make_budget("y", R"("minAvailable":0)");
    const kube::Response refused = evict("a");
    EXPECT_EQ(refused.status, 500);
    EXPECT_EQ(message(refused),
              "This pod has more than one PodDisruptionBudget, which the eviction subresource does "
              "not support.");
}

TEST_F(BudgetsTest, AnEvictionThatCameToNothingIsGivenBack) {
    for (const char* name : {"a", "b"}) make_pod(name);
    make_budget("x", R"("minAvailable":1)");
    EXPECT_EQ(evict("a", R"({"deleteOptions":{"preconditions":{"resourceVersion":"1"}}})").status,
              409);
    EXPECT_EQ(numbers("x"), "0 1 1 2") << "it was let through";
    advance(std::chrono::minutes(3));
    EXPECT_EQ(numbers("x"), "1 2 1 2");
}

TEST_F(BudgetsTest, AnEvictionThatCameToNothingIsGivenBackAfterAFaultToo) {
    for (const char* name : {"a", "b"}) make_pod(name);
    make_budget("x", R"("minAvailable":1)");
    {
        const TaskFault fault("disruption budgets, later");
        evict("a", R"({"deleteOptions":{"preconditions":{"resourceVersion":"1"}}})");
        EXPECT_EQ(numbers("x"), "0 1 1 2");
        EXPECT_EQ(fault.hits(), 1u);
    }
    advance(std::chrono::minutes(3));
    EXPECT_EQ(numbers("x"), "1 2 1 2");
}

TEST_F(BudgetsTest, AShareIsOfWhatTheControllersWant) {
    ASSERT_EQ(post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", R"({
        "metadata":{"name":"sets.a.org"},"spec":{"group":"a.org","scope":"Namespaced",
        "names":{"plural":"sets","kind":"Set"},"versions":[{"name":"v1","served":true,
        "storage":true,"subresources":{"scale":{"specReplicasPath":".spec.n",
        "statusReplicasPath":".status.n"}},"schema":{"openAPIV3Schema":{"type":"object",
        "x-kubernetes-preserve-unknown-fields":true}}}]}})")
                  .status,
              201);
    const std::string sets = "/apis/a.org/v1/namespaces/default/sets";
    const kube::Response set = post(
        sets, R"({"apiVersion":"a.org/v1","kind":"Set","metadata":{"name":"s"},"spec":{"n":4}})");
    ASSERT_EQ(set.status, 201) << text(set);
    const auto owned = [&](std::string uid) {
        return fmt::format(R"(,"ownerReferences":[{{"apiVersion":"a.org/v1","kind":"Set",
            "name":"s","uid":"{}","controller":true}}])",
                           uid);
    };
    for (const char* name : {"a", "b", "c"})
        make_pod(name, owned(string_at_path(set, "metadata.uid")));
    make_budget("x", R"("minAvailable":"50%")");
    EXPECT_EQ(numbers("x"), "1 3 2 4");
    merge_patch(sets + "/s", R"({"spec":{"n":6}})");
    EXPECT_EQ(numbers("x"), "0 3 3 6");
}

TEST_F(BudgetsTest, WrongBudgetsAreRefused) {
    struct Row {
        const char* spec;
        const char* field;
    };
    constexpr Row kRows[] = {
        {R"({"minAvailable":1,"maxUnavailable":1})", "spec"},
        {R"({"minAvailable":-1})", "spec.minAvailable"},
        {R"({"maxUnavailable":"101%"})", "spec.maxUnavailable"},
        {R"({"maxUnavailable":"x%"})", "spec.maxUnavailable"},
        {R"({"maxUnavailable":"%"})", "spec.maxUnavailable"},
        {R"({"selector":{"matchExpressions":[{"key":"a","operator":"Is"}]}})", "spec.selector"},
        {R"({"unhealthyPodEvictionPolicy":"Never"})", "spec.unhealthyPodEvictionPolicy"},
    };
    for (const Row& row : kRows) {
        const kube::Response refused =
            post(kBudgets, fmt::format(R"({{"metadata":{{"name":"x"}},"spec":{}}})", row.spec));
        EXPECT_EQ(refused.status, 422) << row.spec;
        ASSERT_TRUE(at(refused, "details.causes").is_array()) << row.spec;
        EXPECT_EQ(at(refused, "details.causes").as_array().at(0).at("field"), row.field)
            << row.spec;
    }
}

}  // namespace
}  // namespace muster::apiserver::budgets_test
