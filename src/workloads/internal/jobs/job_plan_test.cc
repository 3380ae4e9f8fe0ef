#include "workloads/internal/jobs/job_plan.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "kube/values/json_access.h"
#include "kube/values/read_json.h"
#include "kube/values/time.h"

namespace muster::workloads::job_plan_test {
namespace {

using namespace std::chrono_literals;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

const WallTime kNow = *kube::parse_time("2026-01-02T03:04:05Z");

json::object object(std::string_view text) { return kube::read_json(text).value().as_object(); }

/// A Job of these fields of its spec, with this status.
json::object job(std::string_view spec = "", std::string_view status = "") {
    return object(fmt::format(
        R"({{"metadata":{{"name":"j","namespace":"n","uid":"u"}},
             "spec":{{"backoffLimit":6,"parallelism":1{}{}}},"status":{{{}}}}})",
        spec.empty() ? "" : ",", spec, status));
}

PodFacts pod(const std::string& name, PodPhase phase) {
    PodFacts made;
    made.name = {"n", name};
    made.uid = name;
    made.phase = phase;
    made.tracked = true;
    made.created = kNow - 1min;
    if (made.ended()) made.finished = kNow - 30s;
    return made;
}
PodFacts running(const std::string& name) { return pod(name, PodPhase::kRunning); }
PodFacts succeeded(const std::string& name) { return pod(name, PodPhase::kSucceeded); }
PodFacts failed(const std::string& name) { return pod(name, PodPhase::kFailed); }
PodFacts of_index(PodFacts made, std::int64_t index) {
    made.index = index;
    return made;
}
PodFacts untracked(PodFacts made) {
    made.tracked = false;
    return made;
}
PodFacts deleted(PodFacts made) {
    made.deleting = true;
    return made;
}

JobPlan plan(const json::object& of, const std::vector<PodFacts>& pods = {}, WallTime now = kNow) {
    std::vector<PodPtr> facts;
    for (const PodFacts& one : pods) facts.push_back(std::make_shared<const PodFacts>(one));
    return plan_job(of, facts, now);
}

std::vector<std::string> names(const std::vector<PodPtr>& pods) {
    std::vector<std::string> found;
    for (const PodPtr& one : pods) found.push_back(one->name.name);
    return found;
}

/// "Failed:DeadlineExceeded" for each condition that is true.
std::vector<std::string> conditions(const JobPlan& of) {
    std::vector<std::string> found;
    for (const json::object* one : kube::objects_at(of.status, "conditions"))
        if (kube::string_at(*one, "status") == "True")
            found.push_back(fmt::format("{}:{}", kube::string_at(*one, "type"),
                                        kube::string_at(*one, "reason")));
    return found;
}
std::int64_t number(const JobPlan& of, std::string_view key) {
    return kube::int_at(of.status, key).value_or(0);
}
std::string uncounted(const JobPlan& of) {
    return json::serialize(of.status.at("uncountedTerminatedPods"));
}

TEST(JobPlan, MakesWhatIsMissing) {
    struct Row {
        const char* spec;
        std::vector<PodFacts> pods;
        const char* status;
        std::int64_t made;
    };
    const Row kRows[] = {
        {R"("completions":1)", {}, "", 1},
        {R"("completions":5,"parallelism":2)", {}, "", 2},
        {R"("completions":5,"parallelism":2)", {running("a")}, "", 1},
        {R"("completions":5,"parallelism":3)", {running("a")}, R"("succeeded":3)", 1},
        {R"("completions":5,"parallelism":3)",
         {succeeded("a"), running("b")},
         R"("succeeded":3)",
         0},
        {R"("parallelism":3)", {}, "", 3},
        // Once one of a queue's workers has succeeded, the others end by themselves.
        {R"("parallelism":3)", {running("a"), succeeded("b")}, "", 0},
        {R"("completions":1,"suspend":true)", {}, "", 0},
        {R"("completions":1,"parallelism":0)", {}, "", 0},
        {R"("completions":3000,"parallelism":2000)", {}, "", kMostPodsInOneTurn},
        {R"("completions":1,"managedBy":"kueue.x-k8s.io/multikueue")", {}, "", 0},
        // A pod that is being deleted is replaced immediately, unless told otherwise.
        {R"("completions":1)", {untracked(deleted(running("a")))}, "", 1},
        {R"("completions":1,"podReplacementPolicy":"Failed")", {deleted(running("a"))}, "", 0},
    };
    for (const Row& row : kRows)
        EXPECT_EQ(plan(job(row.spec, row.status), row.pods).make, row.made) << row.spec;
}

TEST(JobPlan, CountsEachEndInTwoSteps) {
    const json::object counting = job(R"("completions":3)");
    const JobPlan first = plan(counting, {succeeded("a"), failed("b"), running("c")});
    EXPECT_EQ(uncounted(first), R"({"succeeded":["a"],"failed":["b"]})");
    EXPECT_THAT(names(first.untrack), ElementsAre("a", "b"));
    EXPECT_EQ(number(first, "succeeded"), 0);
    json::object next = counting;
    next["status"] = first.status;
    // A crash before the finalizers went changes nothing.
    const JobPlan again = plan(next, {succeeded("a"), failed("b"), running("c")});
    EXPECT_EQ(again.status, first.status);
    const JobPlan counted =
        plan(next, {untracked(succeeded("a")), untracked(failed("b")), running("c")});
    EXPECT_EQ(uncounted(counted), "{}");
    EXPECT_EQ(number(counted, "succeeded"), 1);
    EXPECT_EQ(number(counted, "failed"), 1);
    // Nor does it matter whether the pods are still there.
    EXPECT_EQ(number(plan(next, {running("c")}), "failed"), 1);
}

TEST(JobPlan, IsCompleteWhenAllPodsAreCountedAndGone) {
    const json::object once = job(R"("completions":1)", R"("startTime":"2026-01-02T03:00:00Z")");
    const JobPlan first = plan(once, {succeeded("a")});
    EXPECT_THAT(conditions(first), ElementsAre("SuccessCriteriaMet:CompletionsReached"));
    EXPECT_THAT(first.events, IsEmpty());
    json::object next = once;
    next["status"] = first.status;
    const JobPlan second = plan(next, {untracked(succeeded("a"))});
    EXPECT_THAT(conditions(second), ElementsAre("SuccessCriteriaMet:CompletionsReached",
                                                "Complete:CompletionsReached"));
    EXPECT_EQ(kube::string_at(second.status, "completionTime"), "2026-01-02T03:04:05Z");
    ASSERT_EQ(second.events.size(), 1u);
    EXPECT_EQ(second.events[0].reason, "Completed");
    EXPECT_EQ(number(second, "succeeded"), 1);
    // A pod that is still being deleted holds it up.
    EXPECT_THAT(
        conditions(plan(next, {untracked(succeeded("a")), untracked(deleted(running("b")))})),
        ElementsAre("SuccessCriteriaMet:CompletionsReached"));
    next["status"] = second.status;
    EXPECT_EQ(plan(next, {untracked(succeeded("a"))}).status, second.status);
}

TEST(JobPlan, FailsAtItsLimits) {
    struct Row {
        const char* spec;
        std::vector<PodFacts> pods;
        const char* status;
        const char* reason;
    };
    PodFacts restarted = running("a");
    restarted.restarts = 2;
    PodFacts exited = failed("a");
    exited.exits = {{"main", 42}};
    PodFacts disrupted = failed("a");
    disrupted.conditions = {"DisruptionTarget=True"};
    constexpr const char* kInPlace =
        R"("backoffLimit":2,"template":{"spec":{"restartPolicy":"OnFailure"}})";
    constexpr const char* kPolicy =
        R"("backoffLimit":0,"podFailurePolicy":{"rules":[
           {"action":"FailJob","onExitCodes":{"containerName":"main","operator":"In","values":[41,42]}},
           {"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget"}]}]})";
    const Row kRows[] = {
        {R"("completions":1,"backoffLimit":0)", {failed("a")}, "", "BackoffLimitExceeded"},
        {R"("completions":1,"backoffLimit":1)", {failed("a")}, "", ""},
        {R"("completions":1,"backoffLimit":1)",
         {failed("a")},
         R"("failed":1)",
         "BackoffLimitExceeded"},
        {R"("completions":1,"backoffLimit":0)",
         {deleted(running("a"))},
         "",
         "BackoffLimitExceeded"},
        {kInPlace, {restarted}, "", "BackoffLimitExceeded"},
        {R"("activeDeadlineSeconds":60)",
         {running("a")},
         R"("startTime":"2026-01-02T03:03:05Z")",
         "DeadlineExceeded"},
        {R"("activeDeadlineSeconds":61)",
         {running("a")},
         R"("startTime":"2026-01-02T03:03:05Z")",
         ""},
        {R"("activeDeadlineSeconds":60,"suspend":true)",
         {},
         R"("startTime":"2026-01-02T03:03:05Z")",
         ""},
        {kPolicy, {exited}, "", "PodFailurePolicy"},
        {kPolicy, {disrupted}, "", ""},
        {kPolicy, {failed("a")}, "", "BackoffLimitExceeded"},
    };
    for (const Row& row : kRows) {
        const JobPlan made = plan(job(row.spec, row.status), row.pods);
        if (*row.reason == '\0') {
            EXPECT_THAT(conditions(made), Each(StartsWith("Suspended:"))) << row.spec;
            continue;
        }
        EXPECT_EQ(conditions(made).front(), fmt::format("FailureTarget:{}", row.reason))
            << row.spec;
        EXPECT_EQ(made.make, 0) << row.spec;
    }
}

TEST(JobPlan, AFailedJobEndsItsPodsFirst) {
    json::object ending = job(R"("completions":2,"parallelism":2,"backoffLimit":0)");
    const JobPlan first = plan(ending, {failed("a"), running("b")});
    EXPECT_THAT(names(first.remove), ElementsAre("b"));
    EXPECT_FALSE(first.uncounted_removal);
    EXPECT_EQ(uncounted(first), R"({"failed":["a","b"]})");
    EXPECT_EQ(number(first, "terminating"), 1);
    ending["status"] = first.status;
    const JobPlan second = plan(ending, {untracked(failed("a")), untracked(deleted(running("b")))});
    EXPECT_EQ(number(second, "failed"), 2);
    EXPECT_THAT(conditions(second), ElementsAre("FailureTarget:BackoffLimitExceeded"));
    ending["status"] = second.status;
    const JobPlan third = plan(ending, {untracked(failed("a"))});
    EXPECT_THAT(conditions(third),
                ElementsAre("FailureTarget:BackoffLimitExceeded", "Failed:BackoffLimitExceeded"));
    ASSERT_EQ(third.events.size(), 1u);
    EXPECT_TRUE(third.events[0].warning);
    EXPECT_EQ(third.events[0].message, "Job has reached the specified backoff limit");
    EXPECT_FALSE(third.status.contains("completionTime"));
}

TEST(JobPlan, APauseDoublesWithEachFailureSinceTheLastSuccess) {
    const json::object often = job(R"("completions":9,"backoffLimit":9)");
    const auto again = [&](std::vector<PodFacts> pods, WallTime now) {
        for (PodFacts& one : pods) one.tracked = false;
        const JobPlan made = plan(often, pods, now);
        EXPECT_EQ(made.again.has_value(), made.make == 0);
        return made.again.value_or(now) - now;
    };
    EXPECT_EQ(again({failed("a")}, kNow - 30s), 10s);
    EXPECT_EQ(again({failed("a")}, kNow - 21s), 1s);
    EXPECT_EQ(again({failed("a")}, kNow - 20s), 0s);
    EXPECT_EQ(again({failed("a"), failed("b"), failed("c")}, kNow - 30s), 40s);
    std::vector<PodFacts> many;
    for (int i = 0; i < 70; ++i) many.push_back(failed(fmt::format("p{}", i)));
    EXPECT_EQ(again(many, kNow - 30s), 10min);
    many.push_back(succeeded("s"));
    EXPECT_EQ(again(many, kNow - 30s), 10min) << "in the same second";
    many.back().finished = kNow - 29s;
    EXPECT_EQ(again(many, kNow - 30s), 0s);
}

TEST(JobPlan, AnIndexedJobRunsEachIndexOnce) {
    const json::object indexed =
        job(R"("completionMode":"Indexed","completions":5,"parallelism":3)",
            R"("completedIndexes":"0","succeeded":1)");
    const JobPlan made = plan(indexed, {of_index(succeeded("a"), 2), of_index(running("b"), 3)});
    EXPECT_THAT(made.indexes, ElementsAre(1, 4));
    EXPECT_EQ(kube::string_at(made.status, "completedIndexes"), "0,2");
    EXPECT_EQ(number(made, "succeeded"), 2);
    EXPECT_EQ(uncounted(made), "{}");
    // Of two with one index one goes, and those that are none of its indexes.
    const JobPlan removed = plan(indexed, {of_index(running("a"), 1), of_index(running("b"), 1),
                                           of_index(running("c"), 7), running("d")});
    EXPECT_THAT(names(removed.remove), ElementsAre("b", "c", "d"));
    EXPECT_TRUE(removed.uncounted_removal);
}

/// An Indexed Job whose indexes may fail once each.
constexpr const char* kByIndex =
    R"("completionMode":"Indexed","completions":3,"parallelism":3,"backoffLimit":99,
       "backoffLimitPerIndex":1)";

PodFacts after_failures(PodFacts made, std::int64_t counted, std::int64_t ignored = 0) {
    made.index_failures = counted;
    made.ignored_index_failures = ignored;
    return made;
}

TEST(JobPlan, AFailedPodCarriesTheCountOfItsIndexUntilItsSuccessorIsThere) {
    const json::object job_of_three = job(kByIndex);
    const std::vector<PodFacts> others{of_index(running("b"), 1), of_index(running("c"), 2)};
    std::vector<PodFacts> pods = others;
    pods.push_back(of_index(failed("a"), 0));
    const JobPlan early = plan(job_of_three, pods, kNow - 21s);
    EXPECT_THAT(early.indexes, IsEmpty());
    EXPECT_EQ(early.again, kNow - 20s) << "each index has a pause of its own";
    EXPECT_THAT(early.untrack, IsEmpty());
    const JobPlan due = plan(job_of_three, pods, kNow - 20s);
    EXPECT_THAT(due.indexes, ElementsAre(0));
    EXPECT_THAT(due.failures, ElementsAre(IndexFailures{.counted = 1}));
    EXPECT_THAT(due.untrack, IsEmpty());
    pods.push_back(of_index(after_failures(running("a2"), 1), 0));
    const JobPlan followed = plan(job_of_three, pods);
    EXPECT_THAT(names(followed.untrack), ElementsAre("a"));
    EXPECT_EQ(uncounted(followed), R"({"failed":["a"]})");
    // Of several carriers the one that knows most counts.
    const JobPlan twice = plan(job(R"("completionMode":"Indexed","completions":1,"backoffLimit":99,
                                      "backoffLimitPerIndex":9)"),
                               {of_index(after_failures(failed("x"), 0), 0),
                                of_index(after_failures(failed("y"), 1, 1), 0)},
                               kNow + 1h);
    EXPECT_THAT(twice.failures, ElementsAre(IndexFailures{.counted = 2, .ignored = 1}));
    EXPECT_THAT(names(twice.untrack), ElementsAre("x"));
}

TEST(JobPlan, AnIndexThatFailedTooOftenIsNotTriedAgain) {
    const std::vector<PodFacts> pods{of_index(after_failures(failed("a"), 1), 0),
                                     of_index(running("b"), 1), of_index(running("c"), 2)};
    const JobPlan made = plan(job(kByIndex), pods, kNow + 1h);
    EXPECT_EQ(kube::string_at(made.status, "failedIndexes"), "0");
    EXPECT_EQ(made.make, 0);
    EXPECT_THAT(names(made.untrack), ElementsAre("a"));
    EXPECT_THAT(conditions(made), IsEmpty()) << "the others go on";
    const JobPlan ended = plan(job(kByIndex, R"("failedIndexes":"0","completedIndexes":"1")"),
                               {of_index(succeeded("c"), 2)});
    EXPECT_THAT(conditions(ended), ElementsAre("FailureTarget:FailedIndexes"));
    const JobPlan many =
        plan(job(std::string(kByIndex) + R"(,"maxFailedIndexes":0)"), pods, kNow + 1h);
    EXPECT_THAT(conditions(many), ElementsAre("FailureTarget:MaxFailedIndexesExceeded"));
    EXPECT_THAT(names(many.remove), ElementsAre("b", "c"));
}

TEST(JobPlan, AFailurePolicyDecidesAboutAnIndex) {
    const std::string policy = std::string(kByIndex) +
                               R"(,"podFailurePolicy":{"rules":[
        {"action":"FailIndex","onExitCodes":{"operator":"In","values":[42]}},
        {"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget","status":"True"}]}]})";
    PodFacts hopeless = of_index(failed("a"), 0);
    hopeless.exits = {{"c", 42}};
    PodFacts disrupted = of_index(after_failures(failed("b"), 1), 1);
    disrupted.conditions = {"DisruptionTarget=True"};
    const JobPlan made =
        plan(job(policy), {hopeless, disrupted, of_index(running("c"), 2)}, kNow + 1h);
    EXPECT_EQ(kube::string_at(made.status, "failedIndexes"), "0");
    EXPECT_THAT(made.indexes, ElementsAre(1));
    EXPECT_THAT(made.failures, ElementsAre(IndexFailures{.counted = 1, .ignored = 1}));
}

TEST(JobPlan, ASuccessPolicyEndsAJobEarly) {
    struct Row {
        const char* rules;
        bool met;
    };
    for (const Row& row :
         {Row{R"({"succeededIndexes":"0,2"})", true}, Row{R"({"succeededIndexes":"0-2"})", false},
          Row{R"({"succeededIndexes":"1-4","succeededCount":1})", true},
          Row{R"({"succeededIndexes":"1,3-4","succeededCount":1})", false},
          Row{R"({"succeededCount":2})", true}, Row{R"({"succeededCount":3})", false},
          Row{R"({"succeededCount":3},{"succeededIndexes":"2"})", true}}) {
        const JobPlan made =
            plan(job(fmt::format(R"("completionMode":"Indexed","completions":5,"parallelism":5,
                               "successPolicy":{{"rules":[{}]}})",
                                 row.rules),
                     R"("completedIndexes":"0","succeeded":1)"),
                 {of_index(succeeded("c"), 2), of_index(running("b"), 1), of_index(running("d"), 3),
                  of_index(running("e"), 4)});
        if (!row.met) {
            EXPECT_THAT(conditions(made), IsEmpty()) << row.rules;
            continue;
        }
        EXPECT_THAT(conditions(made), ElementsAre("SuccessCriteriaMet:SuccessPolicy")) << row.rules;
        EXPECT_THAT(names(made.remove), ElementsAre("b", "d", "e")) << row.rules;
        EXPECT_EQ(uncounted(made), "{}") << "what is ended for that has not failed";
    }
}

TEST(JobPlan, SuspendsAndResumes) {
    json::object held =
        job(R"("completions":1,"suspend":true)", R"("startTime":"2026-01-02T03:00:00Z")");
    const JobPlan suspended = plan(held, {running("a")});
    EXPECT_THAT(names(suspended.remove), ElementsAre("a"));
    EXPECT_TRUE(suspended.uncounted_removal);
    EXPECT_THAT(conditions(suspended), ElementsAre("Suspended:JobSuspended"));
    held["spec"].as_object()["suspend"] = false;
    held["status"] = suspended.status;
    const JobPlan resumed = plan(held);
    EXPECT_THAT(conditions(resumed), IsEmpty());
    ASSERT_EQ(resumed.events.size(), 1u);
    EXPECT_EQ(resumed.events[0].reason, "Resumed");
    EXPECT_EQ(kube::string_at(resumed.status, "startTime"), "2026-01-02T03:04:05Z");
    EXPECT_EQ(resumed.make, 1);
}

TEST(JobPlan, GoesAfterItsTime) {
    constexpr const char* kDone =
        R"("conditions":[{"type":"Complete","status":"True","lastTransitionTime":
           "2026-01-02T03:04:00Z"}])";
    const JobPlan waits = plan(job(R"("ttlSecondsAfterFinished":6)", kDone));
    EXPECT_FALSE(waits.delete_job);
    EXPECT_EQ(waits.again, kNow + 1s);
    EXPECT_TRUE(plan(job(R"("ttlSecondsAfterFinished":5)", kDone)).delete_job);
    EXPECT_FALSE(plan(job("", kDone)).again.has_value());
    // Its pods are let go.
    EXPECT_THAT(names(plan(job("", kDone), {succeeded("a"), untracked(failed("b"))}).untrack),
                ElementsAre("a"));
}

TEST(JobPlan, AJobThatIsBeingDeletedMakesNothingAndHoldsNothing) {
    json::object going = job(R"("completions":2)");
    going["metadata"].as_object()["deletionTimestamp"] = "2026-01-02T03:04:00Z";
    const JobPlan made = plan(going, {running("a")});
    EXPECT_EQ(made.make, 0);
    EXPECT_THAT(made.remove, IsEmpty());
    EXPECT_THAT(names(made.untrack), ElementsAre("a"));
}

TEST(JobPlan, CountsNoMoreInOneTurnThanTheStatusCanHold) {
    std::vector<PodFacts> pods;
    for (int i = 0; i < 1200; ++i) pods.push_back(succeeded(fmt::format("p{}", i)));
    const JobPlan made = plan(job(R"("completions":1200,"parallelism":1200)"), pods);
    EXPECT_EQ(made.untrack.size(), static_cast<std::size_t>(kMostPodsInOneTurn));
    EXPECT_THAT(conditions(made), ElementsAre("SuccessCriteriaMet:CompletionsReached"));
}

}  // namespace
}  // namespace muster::workloads::job_plan_test
