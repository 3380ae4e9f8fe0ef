#include "checkpoint/commit/commit_ledger.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/rng.h"
#include "base/test_growth.h"
#include "base/test_seeds.h"

namespace muster::checkpoint::commit_ledger_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using State = CommitLedger::State;

ImageFacts facts(std::uint64_t step, std::uint64_t generation = 1) {
    return {.epoch = 5, .generation = generation, .step = step};
}

ManifestShard shard(std::uint32_t rank, std::uint64_t digest = 7) {
    return {.rank = rank,
            .files = {{.path = fmt::format("rank_{}", rank), .bytes = 1, .chunks = {digest}}}};
}

Manifest part(const ImageFacts& of, std::vector<ManifestShard> shards, std::uint32_t all = 3) {
    return {.job = "j",
            .facts = of,
            .layout = {.world_size = all, .shards = all},
            .shards = std::move(shards)};
}

/// Tells it, and expects that it is taken.
CommitLedger::Told tell(CommitLedger& ledger, Manifest manifest) {
    auto told = ledger.told(std::move(manifest));
    EXPECT_TRUE(told) << told.error().message();
    return told ? *std::move(told) : CommitLedger::Told();
}

TEST(CommitLedger, TheLastShardMakesItComplete) {
    CommitLedger ledger;
    EXPECT_EQ(tell(ledger, part(facts(100), {shard(2)})).state, State::kWaits);
    EXPECT_EQ(ledger.waits_for(), "step 100 of generation 5.1 has 1 of 3 shards, of rank 2");
    EXPECT_EQ(tell(ledger, part(facts(100), {shard(2)})).state, State::kWaits) << "told again";
    EXPECT_EQ(ledger.complete(facts(100)), nullptr);
    EXPECT_EQ(tell(ledger, part(facts(100), {shard(0), shard(1)})).state, State::kComplete);
    EXPECT_EQ(*ledger.complete(facts(100)), part(facts(100), {shard(0), shard(1), shard(2)}));
    EXPECT_EQ(ledger.waits_for(), "");

    EXPECT_EQ(tell(ledger, part(facts(100), {shard(1)})).state, State::kComplete)
        << "who was not heard asks again";
    EXPECT_THAT(ledger.committed(facts(100)), IsEmpty());
    EXPECT_EQ(ledger.state(facts(100)), State::kCommitted);
    EXPECT_EQ(tell(ledger, part(facts(100), {shard(1)})).state, State::kCommitted);
}

TEST(CommitLedger, ANewerSaveThatIsCompleteSupersedesThoseThatAreNot) {
    CommitLedger ledger;
    for (const std::uint64_t step : {100u, 200u, 400u}) tell(ledger, part(facts(step), {shard(0)}));
    const auto told = tell(ledger, part(facts(300), {shard(0), shard(1), shard(2)}));
    EXPECT_EQ(told.state, State::kComplete);
    EXPECT_THAT(told.superseded, ElementsAre(facts(100), facts(200)));
    const auto late = ledger.told(part(facts(200), {shard(1)}));
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code(), Code::kGone);
    EXPECT_EQ(late.error().message(),
              "step 200 of generation 5.1 is superseded: step 300 of "
              "generation 5.1 is complete");
    EXPECT_EQ(tell(ledger, part(facts(400), {shard(1)})).state, State::kWaits) << "it is newer";
}

TEST(CommitLedger, AnEarlierStepOfALaterGenerationIsNewer) {
    CommitLedger ledger;
    tell(ledger, part(facts(1000, 1), {shard(0), shard(1), shard(2)}));
    tell(ledger, part(facts(900, 2), {shard(0), shard(1), shard(2)}));
    EXPECT_THAT(ledger.committed(facts(900, 2)), ElementsAre(facts(1000, 1)))
        << "who waits for it is told";
    EXPECT_EQ(ledger.told(part(facts(1000, 1), {shard(0)})).error().code(), Code::kGone);
    EXPECT_EQ(tell(ledger, part(facts(1000, 2), {shard(0)})).state, State::kWaits);
}

TEST(CommitLedger, AShardThatIsWrittenAgainCountsAsItIsNow) {
    CommitLedger ledger;
    tell(ledger, part(facts(100), {shard(0, 1)}));
    tell(ledger, part(facts(100), {shard(0, 2), shard(1)}));
    tell(ledger, part(facts(100), {shard(2)}));
    EXPECT_EQ(ledger.complete(facts(100))->shards.at(0), shard(0, 2));
}

struct Refused {
    const char* name;
    Manifest told;
    const char* why;
};

class Refusals : public ::testing::TestWithParam<Refused> {};

TEST_P(Refusals, NameBoth) {
    CommitLedger ledger;
    Manifest first = part(facts(100), {shard(0), shard(1)});
    first.layout.words = {{"tp", "2"}};
    tell(ledger, first);
    Manifest told = GetParam().told;
    const auto refused = ledger.told(told);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::kConflict);
    EXPECT_THAT(refused.error().message(), HasSubstr(GetParam().why));
    first.shards = {shard(2)};
    EXPECT_EQ(tell(ledger, first).state, State::kComplete) << "it has changed nothing";
}

Manifest changed(const std::function<void(Manifest&)>& change) {
    Manifest told = part(facts(100), {shard(2)});
    told.layout.words = {{"tp", "2"}};
    change(told);
    return told;
}

INSTANTIATE_TEST_SUITE_P(
    All, Refusals,
    ::testing::Values(
        Refused{"job", changed([](Manifest& m) { m.job = "k"; }), "its job is j, and others k"},
        Refused{"layout", changed([](Manifest& m) { m.layout.words["tp"] = "4"; }),
                "its layout is 3 ranks, 3 shards, tp=2, and others 3 ranks, 3 shards, tp=4"},
        Refused{"format", changed([](Manifest& m) { m.format = Format::kTorch; }),
                "its format is safetensors, and others torch"},
        Refused{"file", changed([](Manifest& m) { m.shards[0].files[0].path = "rank_1"; }),
                "ranks 1 and 2 both wrote the file rank_1"}),
    [](const auto& one) { return one.param.name; });

TEST(CommitLedger, AShardMoreThanThereAreIsRefused) {
    CommitLedger ledger;
    Manifest told = part(facts(100), {shard(0), shard(1)});
    told.layout.shards = 2;
    tell(ledger, told);
    told.shards = {shard(2)};
    EXPECT_THAT(ledger.told(told).error().message(),
                HasSubstr("rank 2 stored its shard when all 2 were there"));
    told.shards = {shard(1, 8)};
    EXPECT_EQ(ledger.told(told).error().code(), Code::kConflict) << "its commit may be on its way";
}

TEST(CommitLedger, WaitsForSoManySavesAtOnce) {
    CommitLedger ledger;
    for (std::uint64_t step = 1; step <= CommitLedger::kMostSaves; ++step)
        EXPECT_THAT(tell(ledger, part(facts(step * 10), {shard(0)})).superseded, IsEmpty());
    EXPECT_THAT(tell(ledger, part(facts(1000), {shard(0)})).superseded, ElementsAre(facts(10)));
    EXPECT_EQ(ledger.told(part(facts(5), {shard(0)})).error().code(), Code::kGone);
}

// Agents tell in any order, again, and to a master that knows nothing: what comes of it is the same.
TEST(CommitLedger, TheOrderDoesNotMatter) {
    for (const std::uint64_t seed : seeds_of_this_run(60, 80)) {
        Rng rng(seed);
        std::vector<Manifest> parts;
        for (std::uint32_t rank = 0; rank < 8; ++rank)
            for (std::uint64_t times = 1 + rng.below(2); times-- > 0;)
                parts.push_back(part(facts(100), {shard(rank)}, 8));
        for (std::size_t i = parts.size(); i > 1; --i) std::swap(parts[i - 1], parts[rng.below(i)]);
        CommitLedger ledger;
        for (const Manifest& one : parts) tell(ledger, one);
        ASSERT_EQ(ledger.state(facts(100)), State::kComplete) << "seed " << seed;
        std::vector<std::uint32_t> ranks;
        for (const ManifestShard& one : ledger.complete(facts(100))->shards)
            ranks.push_back(one.rank);
        EXPECT_THAT(ranks, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
    }
}

void tell_all(std::size_t ranks) {
    CommitLedger ledger;
    for (std::size_t rank = 0; rank < ranks; ++rank)
        tell(ledger, part(facts(100), {shard(static_cast<std::uint32_t>(rank))},
                          static_cast<std::uint32_t>(ranks)));
    ASSERT_EQ(ledger.state(facts(100)), State::kComplete);
}

TEST(CommitLedger, IsLinearInTheRanks) { EXPECT_LE(growth_by_ten(400, tell_all), kLinearGrowth); }

}  // namespace
}  // namespace muster::checkpoint::commit_ledger_test
