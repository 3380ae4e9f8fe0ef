#include "checkpoint/commit/committer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <span>

#include "checkpoint/commit/catalog.h"
#include "checkpoint/storage/durable_text.h"
#include "checkpoint/storage/memory_storage.h"
#include "checkpoint/storage/shard_writer.h"
#include "checkpoint/storage/storage_path.h"

// A commit that ends at any of its operations, with the machine or with the process.

namespace muster::checkpoint::committer_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// What a save puts into each of its files.
std::string content_of(const ImageFacts& facts, std::uint32_t rank) {
    return fmt::format("rank {} of step {}, generation {}", rank, facts.step, facts.generation);
}

/// Writes the shards of a step into its staging directory.
Result<Manifest> stage(Storage& storage, const ImageFacts& facts) {
    Manifest manifest{
        .job = "j", .facts = facts, .layout = {.world_size = 2, .shards = 2}, .made_unix_ms = 1};
    const std::string staging = staging_directory(facts);
    TRY_VOID(storage.make_directory(staging));
    for (const std::uint32_t rank : {0u, 1u}) {
        const std::string content = content_of(facts, rank);
        TRY(StoredShard shard,
            write_shard(storage, staging, fmt::format("rank_{:05}.safetensors", rank),
                        {std::as_bytes(std::span(content))}, 1));
        manifest.shards.push_back({.rank = rank, .files = {std::move(shard)}});
    }
    return manifest;
}

CommitOrder order_of(const ImageFacts& facts) {
    return {.directory = std::to_string(facts.step),
            .trackers = {{.name = "dlrover_latest.txt", .text = std::to_string(facts.step)}}};
}

/// All that a save does in storage.
Result<void> save(Storage& storage, const ImageFacts& facts) {
    TRY(const Manifest manifest, stage(storage, facts));
    TRY_VOID(commit(storage, manifest, order_of(facts)));
    return sweep_staging(storage, facts);
}

/// Every checkpoint that is found is whole, and LATEST names one of them. The facts of the newest.
std::optional<ImageFacts> expect_sound(const Storage& storage) {
    const Catalog catalog = read_catalog(storage).value();
    EXPECT_THAT(catalog.unusable, IsEmpty());
    EXPECT_THAT(catalog.others, IsEmpty());
    bool named = catalog.latest.empty();
    for (const FoundCheckpoint& found : catalog.checkpoints) {
        named = named || found.directory == catalog.latest;
        for (const ManifestShard& shard : found.manifest.shards) {
            const StoredShard& file = shard.files.at(0);
            EXPECT_THAT(verify_shard(storage, found.directory, file, 1).value(), IsEmpty());
            EXPECT_EQ(read_text(storage, path_in(found.directory, file.path), 1000).value(),
                      content_of(found.manifest.facts, shard.rank));
        }
    }
    EXPECT_TRUE(named) << catalog.latest;
    if (catalog.checkpoints.empty()) return std::nullopt;
    return catalog.checkpoints.front().manifest.facts;
}

std::vector<std::string> names_in(const Storage& storage, std::string_view directory) {
    std::vector<std::string> names;
    for (const Storage::Entry& entry : storage.list(directory).value()) names.push_back(entry.name);
    return names;
}

constexpr ImageFacts kFirst{.epoch = 1, .generation = 1, .step = 100};
constexpr ImageFacts kSecond{.epoch = 1, .generation = 1, .step = 200};
/// Training went back, and came to the first step once more.
constexpr ImageFacts kAgain{.epoch = 1, .generation = 2, .step = 100};

TEST(Committer, ADirectoryAppearsComplete) {
    MemoryStorage storage;
    ASSERT_TRUE(save(storage, kFirst));
    ASSERT_TRUE(save(storage, kSecond));
    EXPECT_EQ(expect_sound(storage), kSecond);
    EXPECT_THAT(names_in(storage, ""),
                ElementsAre(".muster", "100", "200", "LATEST", "dlrover_latest.txt"));
    EXPECT_THAT(names_in(storage, "200"),
                ElementsAre("manifest.json", "rank_00000.safetensors", "rank_00001.safetensors"));
    EXPECT_THAT(names_in(storage, ".muster"), IsEmpty());
    EXPECT_EQ(read_text(storage, "LATEST", 100).value(), "200\n");
    EXPECT_EQ(read_text(storage, "dlrover_latest.txt", 100).value(), "200");
}

TEST(Committer, AStepThatIsSavedAgainTakesTheOldOnesPlace) {
    MemoryStorage storage;
    for (const ImageFacts& facts : {kFirst, kSecond, kAgain}) ASSERT_TRUE(save(storage, facts));
    EXPECT_EQ(expect_sound(storage), kAgain) << "it is of the newer generation";
    EXPECT_EQ(read_text(storage, "LATEST", 100).value(), "100\n");
    EXPECT_THAT(names_in(storage, ".muster"), IsEmpty());
}

struct Case {
    const char* name;
    std::vector<ImageFacts> before;
    ImageFacts saved;
};

class Interrupted : public ::testing::TestWithParam<Case> {
  protected:
    static std::unique_ptr<MemoryStorage> prepared() {
        auto storage = std::make_unique<MemoryStorage>();
        for (const ImageFacts& facts : GetParam().before) EXPECT_TRUE(save(*storage, facts));
        return storage;
    }
    /// How many operations the save takes.
    static std::uint64_t operations() {
        const auto storage = prepared();
        const std::uint64_t before = storage->operations();
        EXPECT_TRUE(save(*storage, GetParam().saved));
        return storage->operations() - before;
    }
    /// The old or the new one is there; and the same save, and the next one, mend all.
    static void expect_mended(Storage& storage) {
        const auto newest = expect_sound(storage);
        const auto& before = GetParam().before;
        if (newest != GetParam().saved) {
            EXPECT_EQ(newest, before.empty() ? std::nullopt : std::optional(before.back()));
        }
        ASSERT_TRUE(save(storage, GetParam().saved));
        EXPECT_EQ(expect_sound(storage), GetParam().saved);
        const ImageFacts next{.epoch = 1, .generation = 3, .step = 300};
        ASSERT_TRUE(save(storage, next));
        EXPECT_EQ(expect_sound(storage), next);
        EXPECT_THAT(names_in(storage, ".muster"), IsEmpty());
    }
};

TEST_P(Interrupted, ByALossOfPowerAtEachOperation) {
    const std::uint64_t operations = Interrupted::operations();
    ASSERT_GT(operations, 10u);
    for (std::uint64_t at = 0; at < operations; ++at)
        for (std::uint64_t seed = 0; seed < 6; ++seed) {
            SCOPED_TRACE(fmt::format("operation {}, seed {}", at, seed));
            const auto storage = prepared();
            storage->lose_power_at(storage->operations() + at);
            EXPECT_FALSE(save(*storage, GetParam().saved));
            expect_mended(*storage->after_power_loss(seed));
        }
}

TEST_P(Interrupted, ByAKillAtEachOperation) {
    const std::uint64_t operations = Interrupted::operations();
    for (std::uint64_t at = 0; at < operations; ++at) {
        SCOPED_TRACE(fmt::format("operation {}", at));
        const auto storage = prepared();
        storage->lose_power_at(storage->operations() + at);
        EXPECT_FALSE(save(*storage, GetParam().saved));
        constexpr std::uint64_t kAllIsThere = 1;
        expect_mended(*storage->after_power_loss(kAllIsThere));
    }
}

TEST_P(Interrupted, ByOneOperationThatFails) {
    const std::uint64_t operations = Interrupted::operations();
    for (std::uint64_t at = 0; at < operations; ++at) {
        SCOPED_TRACE(fmt::format("operation {}", at));
        const auto storage = prepared();
        storage->fail_at(storage->operations() + at, Error(Code::kUnavailable, "the disk is ill"));
        // What only looks may do without.
        static_cast<void>(save(*storage, GetParam().saved));
        expect_mended(*storage);
    }
}

INSTANTIATE_TEST_SUITE_P(All, Interrupted,
                         ::testing::Values(Case{"TheFirst", {}, kFirst},
                                           Case{"TheNext", {kFirst}, kSecond},
                                           Case{"OneAgain", {kFirst, kSecond}, kAgain}),
                         [](const auto& one) { return one.param.name; });

TEST(Committer, AStepThatIsThereNeedsAFileSystemThatExchanges) {
    MemoryStorage storage({.can_exchange = false});
    ASSERT_TRUE(save(storage, kFirst));
    const auto refused = save(storage, kAgain);
    ASSERT_EQ(refused.error().code(), Code::kUnsupported);
    EXPECT_THAT(refused.error().message(), HasSubstr("memory/100 is there already"));
    EXPECT_EQ(expect_sound(storage), kFirst);
}

TEST(Committer, ADirectoryOfOthersIsLeftAlone) {
    MemoryStorage storage;
    ASSERT_TRUE(storage.make_directory("100"));
    ASSERT_TRUE(write_text_durably(storage, "100", "rank_0.pt", "theirs"));
    const auto refused = save(storage, kFirst);
    ASSERT_EQ(refused.error().code(), Code::kConflict);
    EXPECT_THAT(refused.error().message(), HasSubstr("is no checkpoint of Muster"));
    EXPECT_EQ(read_text(storage, "100/rank_0.pt", 100).value(), "theirs");
    EXPECT_EQ(remove_checkpoint(storage, "100").error().code(), Code::kConflict);
}

TEST(Committer, WhatLacksAShardIsNotCommitted) {
    MemoryStorage storage;
    Manifest manifest = stage(storage, kFirst).value();
    manifest.shards.pop_back();
    EXPECT_EQ(commit(storage, manifest, order_of(kFirst)).error().code(), Code::kInvalid);
    EXPECT_EQ(expect_sound(storage), std::nullopt);
}

TEST(Committer, SweepsWhatIsOlderAndLeavesTheRest) {
    MemoryStorage storage;
    const ImageFacts newer{.epoch = 2, .generation = 1, .step = 50};
    for (const ImageFacts& facts : {kSecond, newer}) ASSERT_TRUE(stage(storage, facts));
    ASSERT_TRUE(storage.make_directory(".muster/notes"));
    ASSERT_TRUE(save(storage, kAgain));
    EXPECT_THAT(names_in(storage, ".muster"), ElementsAre("50.2.1", "notes"));
    ASSERT_TRUE(sweep_staging(storage, newer));
    EXPECT_THAT(names_in(storage, ".muster"), ElementsAre("notes"));
}

TEST(Committer, HalfOfACheckpointThatIsRemovedIsNeverFound) {
    const auto prepared = [] {
        auto storage = std::make_unique<MemoryStorage>();
        for (const ImageFacts& facts : {kFirst, kSecond}) EXPECT_TRUE(save(*storage, facts));
        return storage;
    };
    const auto counted = prepared();
    const std::uint64_t before = counted->operations();
    ASSERT_TRUE(remove_checkpoint(*counted, "100"));
    const std::uint64_t operations = counted->operations() - before;
    EXPECT_EQ(expect_sound(*counted), kSecond);
    for (std::uint64_t at = 0; at < operations; ++at)
        for (std::uint64_t seed = 0; seed < 6; ++seed) {
            SCOPED_TRACE(fmt::format("operation {}, seed {}", at, seed));
            const auto storage = prepared();
            storage->lose_power_at(storage->operations() + at);
            EXPECT_FALSE(remove_checkpoint(*storage, "100"));
            const auto found = storage->after_power_loss(seed);
            EXPECT_EQ(expect_sound(*found), kSecond);
            ASSERT_TRUE(sweep_staging(*found, kSecond));
            EXPECT_THAT(names_in(*found, ".muster"), IsEmpty());
        }
}

}  // namespace
}  // namespace muster::checkpoint::committer_test
