#include "operator/internal/cache/dependents.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/rng.h"
#include "base/test_seeds.h"
#include "operator/internal/job_fixture.h"

namespace muster::operators::dependents_test {
namespace {

using ::testing::SizeIs;
using namespace std::chrono_literals;

constexpr SlotId kWorker0{1, 0};
constexpr SlotId kWorker1{1, 1};
const Instant kLater{1h};

FactsPtr facts(const JobSketch& sketch) {
    return std::make_shared<const JobFacts>(facts_of(make_job(sketch)));
}

std::vector<ReplicaTotals> totals_of(const Dependents& dependents) {
    std::vector<ReplicaTotals> all;
    for (std::uint8_t type = 0; const auto* of_type = dependents.of(type); ++type)
        all.push_back(of_type->totals);
    return all;
}

/// Dependents whose pods live and go as the calls say, seen as a cache sees them.
class Cache {
  public:
    explicit Cache(const JobSketch& sketch, const jobs::JobStatus& status = {})
        : facts_(facts(sketch)) {
        dependents.configure(facts_, status);
    }

    void show(const PodSketch& sketch) {
        PodPtr pod = make_pod(sketch);
        PodPtr& known = pods_[pod->name];
        dependents.apply(known ? &known : nullptr, &pod);
        known = pod;
    }
    void show(const std::vector<PodSketch>& sketches) {
        for (const PodSketch& sketch : sketches) show(sketch);
    }
    void lose(const std::string& name) {
        dependents.apply(&pods_.at(name), nullptr);
        pods_.erase(name);
    }
    void configure(const JobSketch& sketch, const jobs::JobStatus& status = {}) {
        facts_ = facts(sketch);
        dependents.configure(facts_, status);
    }
    void status(const jobs::JobStatus& status) { dependents.configure(facts_, status); }
    const ReplicaTotals& workers() const { return dependents.of(1)->totals; }

    Dependents dependents;

  private:
    FactsPtr facts_;
    std::map<std::string, PodPtr> pods_;
};

jobs::JobStatus with_restarts(std::int32_t restarts) {
    jobs::JobStatus status;
    status.replica_statuses["Worker"].restarts = restarts;
    return status;
}

// --- the table is incremental, without a visible difference

/// One random history of a job's pods and services, as caches and answers bring them.
class RandomHistory {
  public:
    explicit RandomHistory(std::uint64_t seed) : rng_(seed) {}

    void run() {
        for (int step = 0; step < 120 && !::testing::Test::HasFailure(); ++step) {
            const std::string what = act();
            EXPECT_EQ(totals_of(dependents_), dependents_.recomputed_totals())
                << "after step " << step << ", " << what;
            std::vector<ServicePtr> services;
            for (const auto& [slot, service] : services_)
                if (service) services.push_back(service);
            EXPECT_EQ(totals_of(dependents_), totals_of(dependents_.rebuilt_from(pods_, services)))
                << "after step " << step << ", " << what;
        }
    }

  private:
    int below(std::uint64_t bound) { return static_cast<int>(rng_.below(bound)); }
    SlotId any_slot() {
        return {static_cast<std::uint8_t>(rng_.below(2)), static_cast<std::int32_t>(below(5))};
    }
    static const char* type_name(SlotId slot) { return slot.type == 0 ? "Master" : "Worker"; }

    PodPtr changed(const PodRecord& before) {
        auto pod = std::make_shared<PodRecord>(before);
        pod->phase = static_cast<PodPhase>(below(5));
        pod->deleting = before.deleting || rng_.chance(0.2);
        pod->node_restarts = rng_.chance(0.2) ? below(3) : pod->node_restarts;
        if (rng_.chance(0.5)) pod->final_exit_code = below(3) * 70;
        if (rng_.chance(0.05)) pod->slot = any_slot();
        if (rng_.chance(0.05)) pod->label_mismatch = !pod->label_mismatch;
        return pod;
    }

    std::string act() {
        switch (rng_.below(14)) {
            case 0:
            case 1:
            case 2: {
                const SlotId slot = any_slot();
                PodPtr pod =
                    make_pod({.type = type_name(slot),
                              .index = slot.index,
                              .phase = PodPhase::kPending,
                              .uid = fmt::format("pod-{}", ++made_),
                              .restart_history = {.restarts = below(3), .generation = below(3)}});
                dependents_.apply(nullptr, &pod);
                pods_.push_back(pod);
                return "a pod came";
            }
            case 3:
            case 4:
            case 5: {
                if (pods_.empty()) return "nothing";
                PodPtr& pod = pods_[rng_.below(pods_.size())];
                const PodPtr after = changed(*pod);
                dependents_.apply(&pod, &after);
                pod = after;
                return "a pod changed";
            }
            case 6: {
                if (pods_.empty()) return "nothing";
                const std::size_t at = rng_.below(pods_.size());
                dependents_.apply(&pods_[at], nullptr);
                pods_.erase(pods_.begin() + static_cast<std::ptrdiff_t>(at));
                return "a pod went";
            }
            case 7: {
                const SlotId slot = any_slot();
                ServicePtr& known = services_[slot];
                const ServicePtr next =
                    known && rng_.chance(0.5) ? nullptr : make_service(type_name(slot), slot.index);
                if (!known && !next) return "nothing";
                dependents_.apply(known ? &known : nullptr, next ? &next : nullptr);
                known = next;
                return "a service came or went";
            }
            case 8: {
                const SlotId slot = any_slot();
                rng_.chance(0.5) ? dependents_.pod_create_sent(slot, now_ + soon())
                                 : dependents_.service_create_sent(slot, now_ + soon());
                return "a creation was sent";
            }
            case 9: {
                const SlotId slot = any_slot();
                rng_.chance(0.5) ? dependents_.pod_create_failed(slot)
                                 : dependents_.service_create_failed(slot);
                return "a creation failed";
            }
            case 10: {
                if (pods_.empty()) return "nothing";
                const PodPtr& pod = pods_[rng_.below(pods_.size())];
                // A plan may be older than what the cache shows by the time it is carried out.
                const SlotId slot = rng_.chance(0.2) ? any_slot() : pod->slot;
                dependents_.delete_sent(slot, pod->uid, now_ + soon());
                return "a deletion was sent";
            }
            case 11: {
                if (pods_.empty()) return "nothing";
                const PodPtr& pod = pods_[rng_.below(pods_.size())];
                dependents_.delete_failed(pod->slot, pod->uid);
                return "a deletion failed";
            }
            case 12:
                now_ += soon();
                dependents_.expire(now_);
                return "time went by";
            default: {
                if (rng_.chance(0.4)) {
                    sketch_.workers = 1 + below(4);
                    sketch_.suspend = rng_.chance(0.3);
                    sketch_.group = rng_.chance(0.3);
                    sketch_.policy =
                        std::array{"Always", "OnFailure", "Never", "ExitCode"}[rng_.below(4)];
                    facts_ = facts(sketch_);
                }
                jobs::JobStatus status = with_restarts(below(6));
                if (rng_.chance(0.5)) status.restart_generation = below(3);
                dependents_.configure(facts_, status);
                return "the job changed";
            }
        }
    }
    Duration soon() { return std::chrono::seconds(below(40)); }

    Rng rng_;
    JobSketch sketch_;
    FactsPtr facts_ = facts(sketch_);
    Dependents dependents_;
    Instant now_{};
    int made_ = 0;
    std::vector<PodPtr> pods_;
    std::map<SlotId, ServicePtr> services_;
};

TEST(DependentsRandom, TheTotalsAreThoseOfACountFromNothing) {
    for (const std::uint64_t seed : seeds_of_this_run(2'000, 10)) {
        SCOPED_TRACE(fmt::format("seed {}", seed));
        RandomHistory(seed).run();
        if (HasFailure()) break;
    }
}

// --- slots

struct SliceRow {
    std::string name;
    std::vector<int> pods;
    int replicas;
    std::size_t slots;
};
class TestCalculatePodSliceSize : public ::testing::TestWithParam<SliceRow> {};

// training-operator pkg/core/pod_test.go and service_test.go. Upstream keeps at least one slot,
// which is how it makes and deletes a pod of a type with no replicas without end (issue 1709).
TEST_P(TestCalculatePodSliceSize, Slots) {
    Cache cache({.workers = GetParam().replicas});
    for (int index : GetParam().pods) cache.show({.index = index});
    EXPECT_THAT(cache.dependents.of(1)->slots, SizeIs(GetParam().slots));
}

INSTANTIATE_TEST_SUITE_P(Upstream, TestCalculatePodSliceSize,
                         ::testing::Values(SliceRow{"AsManyAsWanted", {0, 1, 2}, 3, 3},
                                           SliceRow{"OneIsMissing", {0, 1, 2}, 4, 4},
                                           SliceRow{"OneTooMany", {0, 1, 2}, 2, 3},
                                           SliceRow{"AnIndexFarOut", {0, 1, 2, 4}, 3, 5}),
                         [](const auto& info) { return info.param.name; });

// --- requests on their way

// training-operator pkg/common/util, TestControllerExpectations: what was asked for is not asked
// for again until it is seen, fails or expires. Ours are by name and uid where upstream's are
// counters, so they can't go negative or be met by something else.
TEST(Dependents, TestControllerExpectations) {
    Cache cache({.masters = -1, .workers = 2});
    Dependents& dependents = cache.dependents;
    EXPECT_TRUE(cache.workers().vacant.contains(0));
    dependents.pod_create_sent(kWorker0, Instant(30s));
    EXPECT_FALSE(cache.workers().vacant.contains(0));
    EXPECT_TRUE(cache.workers().vacant.contains(1));
    cache.show({.index = 1});
    EXPECT_FALSE(cache.workers().vacant.contains(0)) << "another pod's arrival is not an answer";
    cache.show({.index = 0});
    cache.lose("demo-worker-0");
    EXPECT_TRUE(cache.workers().vacant.contains(0)) << "seen: the mark is gone";

    dependents.pod_create_sent(kWorker0, Instant(30s));
    dependents.pod_create_failed(kWorker0);
    EXPECT_TRUE(cache.workers().vacant.contains(0));

    dependents.pod_create_sent(kWorker0, Instant(30s));
    EXPECT_EQ(dependents.expire(Instant(29s)), Instant(30s));
    EXPECT_FALSE(cache.workers().vacant.contains(0));
    EXPECT_EQ(dependents.expire(Instant(30s)), Instant::max());
    EXPECT_TRUE(cache.workers().vacant.contains(0)) << "expired";
}

TEST(Dependents, ADeletionIsAskedForUntilItIsSeenFailsOrExpires) {
    Cache cache({.masters = -1, .workers = 1});
    cache.show({.index = 0, .phase = PodPhase::kFailed});
    EXPECT_TRUE(cache.workers().replace.contains(0));
    cache.dependents.delete_sent(kWorker0, "worker0", Instant(30s));
    EXPECT_FALSE(cache.workers().replace.contains(0));
    cache.dependents.delete_failed(kWorker0, "worker0");
    EXPECT_TRUE(cache.workers().replace.contains(0));
    cache.dependents.delete_sent(kWorker0, "worker0", Instant(30s));
    cache.dependents.expire(Instant(30s));
    EXPECT_TRUE(cache.workers().replace.contains(0));
    // Once the API shows that it goes, it goes, however long that takes.
    cache.dependents.delete_sent(kWorker0, "worker0", Instant(60s));
    cache.show({.index = 0, .phase = PodPhase::kFailed, .deleting = true});
    cache.dependents.expire(Instant(1h));
    EXPECT_FALSE(cache.workers().replace.contains(0));
}

// --- restarts, each once

// A batch Job leaves the pods that failed beside the one that it made next.
TEST(Dependents, OfTwoPodsThatAreNotNamedAsTheReplicaTheOneThatFailedIsTheOther) {
    for (const bool failed_first : {true, false}) {
        const auto pod = [](const char* uid, PodPhase phase) {
            auto made = std::make_shared<PodRecord>(*make_pod({.phase = phase, .uid = uid}));
            made->named_as_replica = false;
            return PodPtr(std::move(made));
        };
        const PodPtr first = pod("a", PodPhase::kRunning);
        const PodPtr second = pod("b", PodPhase::kRunning);
        const PodPtr ended =
            failed_first ? pod("a", PodPhase::kFailed) : pod("b", PodPhase::kFailed);
        Dependents dependents;
        dependents.apply(nullptr, &first);
        dependents.apply(nullptr, &second);
        dependents.apply(failed_first ? &first : &second, &ended);
        EXPECT_EQ(dependents.at({1, 0})->pod->uid, failed_first ? "b" : "a");
    }
}

TEST(Dependents, ContainersThatTheNodeRestartsCount) {
    Cache cache({.masters = -1, .workers = 2});
    cache.show({{.index = 0, .node_restarts = 2}, {.index = 1, .node_restarts = 1}});
    EXPECT_EQ(cache.workers().restarts, 3);
}

// An evicted pod may come without its containers' statuses.
TEST(Dependents, WhatTheNodeOnceReportedIsNotTakenBack) {
    Cache cache({.masters = -1, .workers = 1});
    cache.show({.node_restarts = 2});
    cache.show({.phase = PodPhase::kFailed, .node_restarts = 0});
    EXPECT_EQ(cache.workers().restarts, 3);
    cache.show({.phase = PodPhase::kFailed, .node_restarts = 2});
    EXPECT_EQ(cache.workers().restarts, 3) << "and not counted twice when it comes again";
    cache.lose("demo-worker-0");
    EXPECT_EQ(cache.workers().restarts, 3);
}

// A replica that is scaled away and wanted again while its pod still ends, with SIGTERM's exit
// status or with none: that says nothing of the replica.
TEST(Dependents, HowAPodEndsThatWasStoppedIsNotHeldAgainstItsReplica) {
    for (const char* policy : {"OnFailure", "Never", "ExitCode"}) {
        for (const bool group : {false, true}) {
            for (const PodPhase end : {PodPhase::kFailed, PodPhase::kSucceeded}) {
                const JobSketch wanted{
                    .masters = -1, .workers = 2, .policy = policy, .group = group};
                Cache cache(wanted);
                cache.show({{.index = 0}, {.index = 1}});
                cache.configure({.masters = -1, .workers = 1, .policy = policy, .group = group});
                cache.dependents.delete_sent(kWorker1, "worker1", kLater);
                cache.configure(wanted);
                cache.show({.index = 1, .phase = end, .deleting = true, .exit_code = 1});
                const auto expect_nothing = [&] {
                    const ReplicaTotals& totals = cache.workers();
                    EXPECT_EQ(totals.restarts + totals.failed + totals.lost + totals.lapsed, 0);
                    EXPECT_TRUE(totals.succeeded.empty());
                };
                expect_nothing();
                cache.lose("demo-worker-1");
                expect_nothing();
                EXPECT_TRUE(cache.workers().vacant.contains(1));
            }
        }
    }
}

// Found by `muster simulate elastic-chaos --seed 664`: on a node that is gone, a pod that someone
// deleted stays for long.
TEST(Dependents, ARestartIsNotCountedAgainWhenItsReplicaIsWantedAgain) {
    const JobSketch wanted{.masters = -1, .workers = 2, .policy = "OnFailure"};
    const JobSketch fewer{.masters = -1, .workers = 1, .policy = "OnFailure"};
    const PodSketch deleted{.index = 1, .deleting = true};
    Cache cache(wanted);
    cache.show({{.index = 0}, {.index = 1}});
    cache.show(deleted);
    const auto expect_one = [&](const char* when) {
        EXPECT_EQ(cache.workers().restarts, 1) << when;
    };
    expect_one("deleted");
    cache.configure(fewer);
    expect_one("not wanted");
    cache.configure(wanted);
    expect_one("wanted again");
    cache.lose("demo-worker-1");
    expect_one("gone");
    cache.show({.index = 1, .uid = "next"});
    expect_one("with its successor");
}

// Found by `muster simulate elastic-jobs-chaos --seed 42198`: the operator saw a suspension and its end
// before it could delete the pods, which had failed before.
TEST(Dependents, ARestartIsNotCountedAgainWhenItsJobIsResumed) {
    const JobSketch runs{.masters = -1, .workers = 2, .policy = "OnFailure"};
    const JobSketch rests{.masters = -1, .workers = 2, .policy = "OnFailure", .suspend = true};
    Cache cache(runs);
    cache.show({{.index = 0, .restart_history = {.restarts = 1}}, {.index = 1}});
    for (const int index : {0, 1})
        cache.show({.index = index,
                    .phase = PodPhase::kFailed,
                    .exit_code = 137,
                    .restart_history = {.restarts = 1 - index}});
    for (int times = 0; times < 3; ++times) {
        EXPECT_EQ(cache.workers().restarts, 3);
        cache.configure(rests);
        EXPECT_EQ(cache.workers().restarts, 3);
        cache.configure(runs);
    }
    for (const int index : {0, 1}) {
        cache.lose(fmt::format("demo-worker-{}", index));
        EXPECT_EQ(cache.workers().restarts, 3);
    }
    EXPECT_EQ(cache.dependents.at(kWorker0)->carried, 2) << "what its successor will say";
    EXPECT_EQ(cache.dependents.at(kWorker1)->carried, 1);
}

struct EndRow {
    std::string name;
    std::vector<PodSketch> life;  ///< of worker 0, the last before it is gone
    bool asked = false;           ///< the operator deletes it
    int restarts = 0;
};
class AReplacedPod : public ::testing::TestWithParam<EndRow> {};

// The count is the same while the pod goes, when it is gone, and when its successor is there.
TEST_P(AReplacedPod, Counts) {
    const EndRow& row = GetParam();
    Cache cache({.masters = -1, .workers = 1});
    cache.show(row.life);
    if (row.asked) cache.dependents.delete_sent(kWorker0, "worker0", kLater);
    cache.lose("demo-worker-0");
    EXPECT_EQ(cache.workers().restarts, row.restarts) << "gone";
    const Slot& slot = *cache.dependents.at(kWorker0);
    EXPECT_EQ(slot.carried, row.restarts);
    cache.show({.phase = PodPhase::kPending,
                .uid = "next",
                .restart_history = {.restarts = slot.carried}});
    EXPECT_EQ(cache.workers().restarts, row.restarts) << "with its successor";
    EXPECT_EQ(cache.dependents.at(kWorker0)->carried, 0) << "its successor says it now";
}

INSTANTIATE_TEST_SUITE_P(
    Ends, AReplacedPod,
    ::testing::Values(
        EndRow{"FailedAndReplaced", {{.phase = PodPhase::kFailed}}, true, 1},
        EndRow{"FailedAndDeletedBySomebodyElse", {{.phase = PodPhase::kFailed}}, false, 1},
        EndRow{"RunningAndDeletedBySomebodyElse", {{}, {.deleting = true}}, false, 1},
        EndRow{"RunningAndForceDeleted", {{}}, false, 1},
        EndRow{"OnALostNode", {{.phase = PodPhase::kUnknown, .deleting = true}}, false, 1},
        EndRow{"DeletedAndFailedMeanwhile",
               {{.deleting = true}, {.phase = PodPhase::kFailed, .deleting = true}},
               false,
               1},
        EndRow{"PendingAndDeleted", {{.phase = PodPhase::kPending, .deleting = true}}, false, 0},
        EndRow{"RunningAndDeletedByUs", {{}, {.deleting = true}}, true, 0},
        EndRow{"SucceededAndDeleted", {{.phase = PodPhase::kSucceeded}}, false, 0},
        EndRow{"WithARestartHistory",
               {{.phase = PodPhase::kFailed, .restart_history = {.restarts = 4}}},
               true,
               5},
        EndRow{
            "RestartedInPlaceBefore",
            {{.phase = PodPhase::kFailed, .node_restarts = 2, .restart_history = {.restarts = 4}}},
            true,
            7}),
    [](const auto& info) { return info.param.name; });

// What the status says and no pod accounts for, another operator saw.
TEST(Dependents, AnotherOperatorsCountIsCarriedOn) {
    Dependents dependents = make_dependents({{.index = 0, .restart_history = {.restarts = 1}}});
    dependents.configure(facts({.masters = -1, .workers = 2}), with_restarts(3));
    EXPECT_EQ(dependents.of(1)->totals.restarts, 3);
    EXPECT_EQ(dependents.at(kWorker1)->carried, 2) << "by the replica that has no pod yet";
}

TEST(Dependents, AnotherOperatorsCountIsKeptWhereNoPodIsMissing) {
    Dependents dependents = make_dependents({{.index = 0}, {.index = 1}});
    dependents.configure(facts({.masters = -1, .workers = 2}), with_restarts(3));
    EXPECT_EQ(dependents.of(1)->totals.restarts, 3);
}

// Else the next restart would hide behind those of a replica that is no longer wanted.
TEST(Dependents, RestartsOfAReplicaThatWasScaledAwayStillCount) {
    Cache cache({.masters = -1, .workers = 2});
    cache.show({{.index = 0}, {.index = 1, .restart_history = {.restarts = 2}}});
    ASSERT_EQ(cache.workers().restarts, 2);
    cache.configure({.masters = -1, .workers = 1}, with_restarts(2));
    EXPECT_EQ(cache.workers().restarts, 2);
    cache.show({.index = 1, .deleting = true, .restart_history = {.restarts = 2}});
    cache.lose("demo-worker-1");
    EXPECT_EQ(cache.workers().restarts, 2) << "and its removal is none";
    cache.configure({.masters = -1, .workers = 2}, with_restarts(2));
    EXPECT_EQ(cache.workers().restarts, 2);
}

// Two operators: one carries what the other has written into pods.
TEST(Dependents, WhatAnotherOperatorsPodsTellIsNotCarriedToo) {
    Cache cache({.masters = -1, .workers = 3}, with_restarts(6));
    ASSERT_EQ(cache.dependents.at(kWorker0)->carried, 6);
    cache.show({{.index = 0, .restart_history = {.restarts = 2}},
                {.index = 1, .restart_history = {.restarts = 3}},
                {.index = 2, .restart_history = {.restarts = 1}}});
    EXPECT_EQ(cache.workers().restarts, 6);
    EXPECT_EQ(cache.dependents.at(kWorker0)->carried, 0);
}

TEST(Dependents, ATypeThatHadNoReplicasForAWhileKeepsItsCount) {
    Cache cache({.masters = -1, .workers = 0}, with_restarts(2));
    cache.configure({.masters = -1, .workers = 1}, with_restarts(2));
    EXPECT_EQ(cache.workers().restarts, 2);
}

TEST(Dependents, PodsThatGoBecauseTheJobIsPausedAreNoRestarts) {
    Cache cache({.masters = -1, .workers = 1});
    cache.show(PodSketch{});
    cache.configure({.masters = -1, .workers = 1, .suspend = true});
    cache.show({.deleting = true});
    cache.lose("demo-worker-0");
    EXPECT_EQ(cache.workers().restarts, 0);
}

// --- groups

TEST(Dependents, AMemberThatVanishesFailsItsGroup) {
    Cache cache({.masters = -1, .workers = 2, .group = true});
    cache.show({{.index = 0}, {.index = 1}});
    cache.lose("demo-worker-1");
    EXPECT_EQ(cache.workers().lapsed, 1);
    EXPECT_EQ(cache.workers().restarts, 0) << "the group restarts, not its member";
    jobs::JobStatus next;
    next.restart_generation = 1;
    cache.status(next);
    EXPECT_EQ(cache.workers().lapsed, 0) << "that was the last generation's";
    EXPECT_EQ(cache.workers().outdated, 1);
}

TEST(Dependents, AnEvictedMemberThatIsGoneFailsItsGroupToo) {
    Cache cache({.masters = -1, .workers = 2, .group = true});
    cache.show({{.index = 0}, {.index = 1, .phase = PodPhase::kFailed}});
    EXPECT_EQ(cache.workers().lapsed, 1);
    cache.lose("demo-worker-1");
    EXPECT_EQ(cache.workers().lapsed, 1);
}

TEST(Dependents, AMemberThatNobodyWantsFailsNobody) {
    Cache cache({.masters = -1, .workers = 2, .group = true});
    cache.show({{.index = 0}, {.index = 1}});
    cache.configure({.masters = -1, .workers = 1, .group = true});
    cache.lose("demo-worker-1");
    cache.configure({.masters = -1, .workers = 2, .group = true});
    EXPECT_EQ(cache.workers().lapsed, 0);
}

TEST(Dependents, AnOldMembersEndFailsNobody) {
    jobs::JobStatus second;
    second.restart_generation = 1;
    Cache cache({.masters = -1, .workers = 2, .group = true}, second);
    cache.show({{.index = 0, .phase = PodPhase::kFailed}, {.index = 1}});
    EXPECT_EQ(cache.workers().lapsed, 0);
    EXPECT_EQ(cache.workers().failed, 0);
    cache.lose("demo-worker-1");
    EXPECT_EQ(cache.workers().lapsed, 0);
    EXPECT_EQ(cache.workers().outdated, 1);
}

}  // namespace
}  // namespace muster::operators::dependents_test
