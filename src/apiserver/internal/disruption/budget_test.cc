#include "apiserver/internal/disruption/budget.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "apiserver/objects/json_access.h"
#include "kube/values/time.h"

namespace muster::apiserver::budget_test {
namespace {

json::object object_of(std::string_view text) { return json::parse(text).get_object(); }

WallTime at(std::string_view time) { return *kube::parse_time(time); }

const WallTime kNow = at("2026-01-01T00:10:00Z");

struct PodRow {
    std::string name;
    bool ready = true;
    bool deleting = false;
    std::string owner = {};
};

json::object pod_of(const PodRow& row) {
    json::object pod{
        {"metadata", {{"name", row.name}}},
        {"status",
         {{"phase", "Running"},
          {"conditions", json::array{json::object{{"type", "Ready"},
                                                  {"status", row.ready ? "True" : "False"}}}}}}};
    json::object& meta = pod["metadata"].get_object();
    if (row.deleting) meta["deletionTimestamp"] = "2026-01-01T00:00:00Z";
    if (!row.owner.empty())
        meta["ownerReferences"] = json::array{json::object{{"apiVersion", "a.org/v1"},
                                                           {"kind", "Job"},
                                                           {"name", row.owner},
                                                           {"uid", "uid-" + row.owner},
                                                           {"controller", true}}};
    return pod;
}

/// Controllers "three" and "five" want as many; others are unknown.
std::optional<std::int64_t> scale_of(const PodController& controller) {
    if (controller.name == "three") return 3;
    if (controller.name == "five") return 5;
    return std::nullopt;
}

TEST(BudgetStatus, CountsWhatMayGo) {
    const PodRow a{"a"}, b{"b"}, c{"c"};
    const PodRow unready{"u", false}, going{"g", true, true};
    const PodRow owned{"o", true, false, "three"}, other{"p", true, false, "five"};
    const PodRow orphan{"q", true, false, "nobody"};
    struct Row {
        const char* why;
        const char* spec;
        std::vector<PodRow> pods;
        const char* numbers;  ///< allowed, healthy, desired, expected
        const char* reason;
    };
    const Row rows[] = {
        {"one may go", R"({"minAvailable":2})", {a, b, c}, "1 3 2 3", "SufficientPods"},
        {"none may", R"({"minAvailable":3})", {a, b, c}, "0 3 3 3", "InsufficientPods"},
        {"fewer than wanted", R"({"minAvailable":5})", {a, b}, "0 2 5 2", "InsufficientPods"},
        {"what isn't ready", R"({"minAvailable":1})", {a, unready}, "0 1 1 2", "InsufficientPods"},
        {"what is going", R"({"minAvailable":1})", {a, going}, "0 1 1 2", "InsufficientPods"},
        {"no pods yet", R"({"minAvailable":0})", {}, "0 0 0 0", "InsufficientPods"},
        {"no limit at all", R"({})", {a}, "0 1 0 0", "InsufficientPods"},
        {"missing of a scale", R"({"maxUnavailable":1})", {owned}, "0 1 2 3", "InsufficientPods"},
        {"all may be missing", R"({"maxUnavailable":9})", {owned}, "1 1 0 3", "SufficientPods"},
        {"two controllers",
         R"({"maxUnavailable":"90%"})",
         {owned, other},
         "2 2 0 8",
         "SufficientPods"},
        {"a percentage is rounded up",
         R"({"minAvailable":"34%"})",
         {owned},
         "0 1 2 3",
         "InsufficientPods"},
        {"pods of nobody have no scale",
         R"({"maxUnavailable":1})",
         {a, b},
         "0 2 0 0",
         "InsufficientPods"},
        {"but a number", R"({"minAvailable":1})", {a, orphan}, "1 2 1 2", "SufficientPods"},
    };
    for (const Row& row : rows) {
        json::object budget{{"metadata", {{"name", "x"}, {"generation", 4}}},
                            {"spec", json::parse(row.spec)}};
        Coverage coverage;
        for (const PodRow& pod : row.pods) coverage.put(pod_of(pod));
        const BudgetState state = budget_status(budget, coverage, scale_of, kNow);
        const json::object& status = state.status;
        const auto number = [&](const char* key) { return status.at(key).as_int64(); };
        EXPECT_EQ(fmt::format("{} {} {} {}", number("disruptionsAllowed"), number("currentHealthy"),
                              number("desiredHealthy"), number("expectedPods")),
                  row.numbers)
            << row.why;
        EXPECT_EQ(number("observedGeneration"), 4) << row.why;
        const json::object& condition = status.at("conditions").at(0).get_object();
        EXPECT_EQ(condition.at("reason"), row.reason) << row.why;
        EXPECT_EQ(condition.at("status"), number("disruptionsAllowed") > 0 ? "True" : "False");
        EXPECT_FALSE(state.requeue_at.has_value()) << row.why;
    }
}

TEST(BudgetStatus, AScaleThatNobodyKnowsLetsNothingGo) {
    const json::object budget = object_of(R"({"metadata":{"name":"x","generation":2},
        "spec":{"maxUnavailable":1},"status":{"disruptionsAllowed":3,"observedGeneration":1}})");
    Coverage coverage;
    coverage.put(pod_of({"p", true, false, "nobody"}));
    const json::object status = budget_status(budget, coverage, scale_of, kNow).status;
    EXPECT_EQ(status.at("disruptionsAllowed"), 0);
    EXPECT_EQ(status.at("observedGeneration"), 1) << "it has not been counted";
    EXPECT_EQ(status.at("conditions").at(0).at("reason"), "SyncFailed");
    EXPECT_EQ(status.at("conditions").at(0).at("message"), "found no controllers for pod \"p\"");
}

TEST(BudgetStatus, AnEvictionThatWasLetThroughCountsForTwoMinutes) {
    const json::object budget = object_of(R"({"metadata":{"generation":1},"spec":{"minAvailable":1},
        "status":{"disruptedPods":{"a":"2026-01-01T00:09:00Z","b":"2026-01-01T00:07:59Z",
        "g":"2026-01-01T00:09:00Z","gone":"2026-01-01T00:09:00Z"}}})");
    Coverage coverage;
    for (const char* name : {"a", "b", "c"}) coverage.put(pod_of({name}));
    coverage.put(pod_of({"g", true, true}));
    const BudgetState state = budget_status(budget, coverage, scale_of, kNow);
    EXPECT_EQ(json::serialize(state.status.at("disruptedPods")), R"({"a":"2026-01-01T00:09:00Z"})");
    EXPECT_EQ(state.status.at("currentHealthy"), 2);
    EXPECT_EQ(state.status.at("disruptionsAllowed"), 1);
    EXPECT_EQ(state.requeue_at, at("2026-01-01T00:11:00Z"));
}

TEST(BudgetStatus, TheConditionKeepsItsTimeUntilItTurns) {
    json::object budget = object_of(R"({"metadata":{"generation":1},"spec":{"minAvailable":1}})");
    Coverage coverage;
    coverage.put(pod_of({"a"}));
    coverage.put(pod_of({"b"}));
    const auto time = [&](WallTime now) {
        budget["status"] = budget_status(budget, coverage, scale_of, now).status;
        return std::string(
            budget["status"].at("conditions").at(0).at("lastTransitionTime").as_string());
    };
    const std::string first = time(kNow);
    EXPECT_EQ(time(kNow + std::chrono::hours(1)), first);
    coverage.remove("b");
    EXPECT_NE(time(kNow + std::chrono::hours(2)), first);
    EXPECT_EQ(budget["status"].at("conditions").as_array().size(), 1u);
}

TEST(Coverage, SaysWhetherAnythingThatCountsChanged) {
    Coverage coverage;
    EXPECT_TRUE(coverage.put(pod_of({"a", false, false, "three"})));
    EXPECT_FALSE(coverage.put(pod_of({"a", false, false, "three"})));
    EXPECT_TRUE(coverage.is_controlled_by("uid-three"));
    EXPECT_TRUE(coverage.put(pod_of({"a", true, false, "five"})));
    EXPECT_FALSE(coverage.is_controlled_by("uid-three"));
    EXPECT_EQ(coverage.healthy(), 1);
    EXPECT_TRUE(coverage.put(pod_of({"a", true, true, "five"})));
    EXPECT_EQ(coverage.healthy(), 0);
    EXPECT_TRUE(coverage.remove("a"));
    EXPECT_FALSE(coverage.remove("a"));
    EXPECT_EQ(coverage.pods(), 0);
    EXPECT_TRUE(coverage.controllers().empty());
}

TEST(EvictionPermit, SaysWhichBudgetPays) {
    const std::string ready = R"("conditions":[{"type":"Ready","status":"True"}])";
    struct Row {
        const char* why;
        std::string pod;
        std::vector<std::string> budgets;
        const char* pays;
    };
    const std::string budget = R"({"metadata":{"name":"x"}})";
    const auto running = [](const std::string& more) {
        return R"({"metadata":{},"status":{"phase":"Running")" + (more.empty() ? "" : "," + more) +
               "}}";
    };
    const auto healthy = [](int current, int desired, const char* policy) {
        return fmt::format(
            R"({{"metadata":{{"name":"x"}},"spec":{{"unhealthyPodEvictionPolicy":"{}"}},
            "status":{{"currentHealthy":{},"desiredHealthy":{}}}}})",
            policy, current, desired);
    };
    const Row rows[] = {
        {"no budget", running(ready), {}, ""},
        {"a ready pod", running(ready), {budget}, "x"},
        {"a pod that ended", R"({"metadata":{},"status":{"phase":"Failed"}})", {budget}, ""},
        {"that waits", R"({"metadata":{},"status":{"phase":"Pending"}})", {budget, budget}, ""},
        {"that is going",
         R"({"metadata":{"deletionTimestamp":"x"},"status":{"phase":"Running"}})",
         {budget},
         ""},
        {"not ready, nothing known", running(""), {budget}, "x"},
        {"not ready, enough others", running(""), {healthy(2, 2, "")}, ""},
        {"not ready, too few others", running(""), {healthy(1, 2, "IfHealthyBudget")}, "x"},
        {"not ready, none wanted", running(""), {healthy(0, 0, "")}, "x"},
        {"not ready, always allowed", running(""), {healthy(0, 2, "AlwaysAllow")}, ""},
    };
    for (const Row& row : rows) {
        std::vector<json::object> budgets;
        for (const std::string& text : row.budgets) budgets.push_back(object_of(text));
        std::vector<const json::object*> pointers;
        for (const json::object& each : budgets) pointers.push_back(&each);
        const auto permit = permit_eviction(object_of(row.pod), pointers);
        ASSERT_TRUE(permit.has_value()) << row.why;
        EXPECT_EQ(permit->budget, row.pays) << row.why;
    }
    const json::object one = object_of(budget);
    const auto two = permit_eviction(object_of(running(ready)), {&one, &one});
    ASSERT_FALSE(two.has_value());
    EXPECT_EQ(two.error().error.code(), Code::kInternal);
}

TEST(SpendEviction, TakesOneOrSaysWhyNot) {
    struct Row {
        const char* status;
        Code code;
        const char* cause;
    };
    constexpr Row kRows[] = {
        {R"({"observedGeneration":1,"disruptionsAllowed":5})", Code::kTooManyRequests,
         "The disruption budget x is still being processed by the server."},
        {R"({"observedGeneration":2,"desiredHealthy":2,"currentHealthy":1})",
         Code::kTooManyRequests,
         "The disruption budget x needs 2 healthy pods and has 1 currently"},
        {R"({"observedGeneration":2,"conditions":[{"type":"DisruptionAllowed",
             "reason":"SyncFailed","message":"why"}]})",
         Code::kTooManyRequests,
         "The disruption budget x does not allow evicting pods currently because it failed sync: "
         "why"},
        {R"({"observedGeneration":2,"disruptionsAllowed":-1})", Code::kForbidden, ""},
    };
    ResourceDef def;
    def.type = kDisruptionBudgets;
    def.has_status = true;
    const auto budget = [](std::string_view status) {
        return json::value(json::object{{"metadata", {{"name", "x"}, {"generation", 2}}},
                                        {"status", json::parse(status)}});
    };
    for (const Row& row : kRows) {
        const auto spent = spend_eviction(def, budget(row.status), "p", kNow);
        ASSERT_FALSE(spent.has_value()) << row.status;
        EXPECT_EQ(spent.error().error.code(), row.code) << row.status;
        if (row.code != Code::kTooManyRequests) continue;
        EXPECT_EQ(spent.error().error.message(),
                  "Cannot evict pod as it would violate the pod's disruption budget.");
        EXPECT_EQ(spent.error().error.causes().at(0), (Cause{"DisruptionBudget", row.cause, ""}));
    }
    const auto spent = spend_eviction(
        def, budget(R"({"observedGeneration":2,"disruptionsAllowed":1})"), "p", kNow);
    ASSERT_TRUE(spent.has_value());
    const json::value& status = spent->object.value().at("status");
    EXPECT_EQ(status.at("disruptionsAllowed"), 0);
    EXPECT_EQ(status.at("disruptedPods").at("p"), "2026-01-01T00:10:00Z");
    EXPECT_EQ(status.at("conditions").at(0).at("reason"), "InsufficientPods");
}

}  // namespace
}  // namespace muster::apiserver::budget_test
