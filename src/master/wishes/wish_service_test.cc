#include "master/wishes/wish_service.h"

#include <gmock/gmock.h>

#include "master/job.h"

namespace muster::master::wish_service_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const Instant kStart = Instant() + 1h;
const WallTime kToday = WallTime() + 20000h;

/// A job of two nodes whose failures with exit code 9 are those of a bad node. An agent is called as
/// its pod is.
class Story {
  public:
    explicit Story(JobRecord record = {.epoch = 1}, Duration window = 600s)
        : job({.membership = {.min_nodes = 1, .max_nodes = 2},
               .policy = {.bad_node_codes = {9}},
               .budgets = budgets(window)},
              std::move(record), kStart, services) {
        services.add(std::make_unique<WishService>(
            ServiceContext{.executor = {}, .job = job, .wake = [this] { woken = true; }},
            [this](Wish wish) { wishes.push_back(std::move(wish)); }));
    }
    static std::array<Budget, kCharges> budgets(Duration window) {
        std::array<Budget, kCharges> all{};
        all[static_cast<std::size_t>(Charge::kNode)].window = window;
        return all;
    }

    Result<void> join(const std::string& pod, const std::string& host, std::uint64_t seen = 0) {
        auto joined = job.joined({.incarnation = pod,
                                  .slot = {},
                                  .address = pod,
                                  .name = pod,
                                  .epoch_seen = seen,
                                  .pod = pod,
                                  .host = host},
                                 now, wall);
        look();
        return joined;
    }
    void look(Duration after = {}) {
        now += after;
        wall += after;
        do {
            woken = false;
            job.advance(now, wall);
            job.written(job.record_version());
            services.runs(job.end() ? nullptr : job.world(), job.why());
        } while (woken);
    }
    /// Its workers run as it was told, and one of them ends with 9.
    void prove_bad(const std::string& pod) {
        const auto order = job.directive_for(pod);
        ASSERT_TRUE(order && std::holds_alternative<Run>(order->what));
        const World world = std::get<Run>(order->what).world;
        job.reported(pod,
                     {.holds = world,
                      .store_ready = world.generation,
                      .evidence = {{.kind = FailureKind::kWorkerExited,
                                    .generation = world.generation,
                                    .restarts = world.restarts,
                                    .exit_code = 9}}},
                     now, wall);
        look();
    }

    Services services;
    Job job;
    Instant now = kStart;
    WallTime wall = kToday;
    bool woken = false;
    std::vector<Wish> wishes;
};

TEST(WishService, ABadNodeIsWishedAwayForAsLongAsItsIncidentCounts) {
    Story story;
    ASSERT_TRUE(story.join("a", "n1"));
    ASSERT_TRUE(story.join("b", "n2"));
    EXPECT_THAT(story.wishes, IsEmpty());
    story.prove_bad("a");
    ASSERT_THAT(story.wishes, SizeIs(1));
    EXPECT_THAT(story.wishes.back().left_out,
                ElementsAre(LeftOut{.host = "n1", .until = kToday + 600s}));
    EXPECT_THAT(story.wishes.back().moved, IsEmpty());
    EXPECT_FALSE(story.job.section("wishes").empty());
    ASSERT_TRUE(story.join("c", "n1"));
    EXPECT_THAT(story.wishes.back().moved, ElementsAre("c"));
    ASSERT_TRUE(story.join("a", "n1"));
    EXPECT_THAT(story.wishes.back().moved, ElementsAre("c")) << "a was told to end";
    EXPECT_THAT(story.wishes, SizeIs(2));
}

TEST(WishService, WithoutAWindowItIsForTheJobsLife) {
    Story story({.epoch = 1}, 0s);
    ASSERT_TRUE(story.join("a", "n1"));
    ASSERT_TRUE(story.join("b", "n2"));
    story.prove_bad("a");
    EXPECT_THAT(story.wishes.back().left_out, ElementsAre(LeftOut{.host = "n1"}));
}

TEST(WishService, WhatTheNodeCheckFindsCountsToo) {
    Story story;
    ASSERT_TRUE(story.join("a", "n1"));
    ASSERT_TRUE(story.join("b", "n2"));
    story.job.exclude("the node check", FailureKind::kCheckFailed,
                      {{.incarnation = "b", .slot = 1, .why = "no link works"}}, story.now,
                      story.wall);
    story.look();
    EXPECT_THAT(story.wishes.back().left_out,
                ElementsAre(LeftOut{.host = "n2", .until = kToday + 600s}));
}

TEST(WishService, TheNextMasterWishesTheSame) {
    Story first;
    ASSERT_TRUE(first.join("a", "n1"));
    ASSERT_TRUE(first.join("b", "n2"));
    first.prove_bad("a");
    JobRecord record = first.job.record();
    record.epoch = 2;
    Story next(record);
    next.look();
    ASSERT_THAT(next.wishes, SizeIs(1));
    EXPECT_EQ(next.wishes.back(), first.wishes.back());
    ASSERT_TRUE(next.join("a", "n1", 1));
    EXPECT_THAT(next.wishes, SizeIs(1)) << "it is still not wanted, and ends";
}

TEST(WishService, StandbyNodesAreSparesOnceAllIsQuiet) {
    Story story;
    for (const char* pod : {"a", "b", "c"}) ASSERT_TRUE(story.join(pod, ""));
    EXPECT_THAT(story.wishes, IsEmpty());
    EXPECT_EQ(story.job.wake_at(), kStart + Wishes::kSettles);
    story.look(Wishes::kSettles);
    ASSERT_THAT(story.wishes, SizeIs(1));
    EXPECT_THAT(story.wishes.back().spares, ElementsAre("c"));
    story.look(1h);
    EXPECT_THAT(story.wishes, SizeIs(1));
}

}  // namespace
}  // namespace muster::master::wish_service_test
