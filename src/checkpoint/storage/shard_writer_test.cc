#include "checkpoint/storage/shard_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "base/rng.h"
#include "base/test_seeds.h"
#include "checkpoint/image/digest.h"
#include "checkpoint/storage/aligned_buffer.h"
#include "checkpoint/storage/memory_storage.h"

namespace muster::checkpoint::shard_writer_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Memory of which no two chunks are alike.
class Content {
  public:
    explicit Content(std::size_t bytes) : memory_(bytes) {
        Rng rng(bytes);
        const std::span<std::byte> all = memory_.bytes();
        for (std::size_t at = 0; at + 8 <= all.size(); at += 8) {
            const std::uint64_t word = rng.next();
            std::memcpy(all.data() + at, &word, sizeof word);
        }
        for (std::size_t at = all.size() / 8 * 8; at < all.size(); ++at)
            all[at] = static_cast<std::byte>(at);
    }
    std::span<std::byte> bytes() { return memory_.bytes(); }

    std::vector<std::uint64_t> digests() {
        std::vector<std::uint64_t> all;
        for (auto rest = bytes(); !rest.empty();
             rest = rest.subspan(std::min<std::size_t>(rest.size(), kChunk)))
            all.push_back(digest_of(rest.first(std::min<std::size_t>(rest.size(), kChunk))));
        return all;
    }

  private:
    AlignedBuffer memory_;
};

/// Cut at random places, sometimes into pieces of nothing.
Pieces cut(std::span<const std::byte> bytes, Rng& rng) {
    Pieces pieces;
    while (!bytes.empty()) {
        std::size_t size = rng.below(bytes.size() + 1);
        if (rng.chance(0.3)) size = std::min<std::size_t>(bytes.size(), rng.below(20));
        if (rng.chance(0.3)) size = std::min<std::size_t>(bytes.size(), rng.below(9) * kPage);
        pieces.push_back(bytes.first(size));
        bytes = bytes.subspan(size);
    }
    return pieces;
}

std::vector<std::byte> read_all(const Storage& storage, std::string_view path) {
    const auto file = storage.open(path).value();
    std::vector<std::byte> all(file->bytes());
    EXPECT_TRUE(file->read(0, all));
    return all;
}

std::vector<std::string> names_in(const Storage& storage, std::string_view path) {
    std::vector<std::string> names;
    for (const auto& entry : storage.list(path).value()) names.push_back(entry.name);
    return names;
}

TEST(ShardWriter, WritesPiecesOneAfterTheOtherWithTheDigestsOfItsChunks) {
    for (const std::size_t bytes :
         {std::size_t{0}, std::size_t{1}, std::size_t{kPage}, std::size_t{kChunk},
          std::size_t{kChunk + 1}, std::size_t{2 * kChunk + kPage + 77}}) {
        Content content(bytes);
        for (const std::uint64_t seed : seeds_of_this_run(10, 5)) {
            SCOPED_TRACE(::testing::Message() << bytes << " bytes, seed " << seed);
            Rng rng(seed);
            MemoryStorage storage;
            const Pieces pieces = seed == 1 ? Pieces{content.bytes()} : cut(content.bytes(), rng);
            const int threads = 1 + static_cast<int>(rng.below(4));
            const auto shard = write_shard(storage, "", "a", pieces, threads);
            ASSERT_TRUE(shard) << shard.error().message();
            EXPECT_EQ(*shard,
                      (StoredShard{.path = "a", .bytes = bytes, .chunks = content.digests()}));
            EXPECT_TRUE(std::ranges::equal(read_all(storage, "a"), content.bytes()));
            EXPECT_THAT(names_in(storage, ""), ElementsAre("a"));
            EXPECT_THAT(verify_shard(storage, "", *shard, threads).value(), IsEmpty());
        }
    }
}

TEST(ShardWriter, HasAnotherNameUntilItIsOnTheDisk) {
    Content content(kChunk + 5);
    MemoryStorage storage;
    ASSERT_TRUE(storage.make_directory("x"));
    ASSERT_TRUE(write_shard(storage, "x", "a", {content.bytes()}, 1));
    std::vector<std::string> history = storage.history();
    const std::string temporary = history[1].substr(sizeof "create x/" - 1);
    EXPECT_TRUE(is_temporary(temporary)) << temporary;
    EXPECT_THAT(history, ElementsAre("make x", "create x/" + temporary, "write x/" + temporary,
                                     "write x/" + temporary, "sync x/" + temporary,
                                     "rename x/" + temporary + " x/a"));
}

TEST(ShardWriter, NamesOfUnfinishedFilesAreKnown) {
    for (const char* const name : {"a.tmp-0123abcd", "rank_00000.safetensors.tmp-ffffffff"})
        EXPECT_TRUE(is_temporary(name)) << name;
    for (const char* const name : {"", "a", "a.tmp-", ".tmp-01234567", "a.tmp-0123456",
                                   "a.tmp-0123456g", "a.tmp-0123ABCD", "a.tmp-0123abcd.pt"})
        EXPECT_FALSE(is_temporary(name)) << name;
}

TEST(ShardWriter, WhateverFailsIsToldAndLeavesWhatWasThere) {
    Content content(3 * kChunk);
    MemoryStorage storage;
    ASSERT_TRUE(write_shard(storage, "", "a", {content.bytes().first(10)}, 1));
    const std::uint64_t written = storage.operations();
    ASSERT_TRUE(write_shard(storage, "", "b", {content.bytes()}, 3));
    const std::uint64_t operations = storage.operations() - written;
    EXPECT_EQ(operations, 6u) << "create, three writes, sync, rename";
    for (std::uint64_t at = 0; at < operations; ++at) {
        SCOPED_TRACE(at);
        storage.fail_at(storage.operations() + at, Error(Code::kUnavailable, "no more"));
        const auto failed = write_shard(storage, "", "a", {content.bytes()}, 3);
        ASSERT_FALSE(failed);
        EXPECT_EQ(failed.error().message(), "no more");
        EXPECT_THAT(names_in(storage, ""), ElementsAre("a", "b"));
        EXPECT_EQ(storage.open("a").value()->bytes(), 10u);
    }
}

TEST(ShardWriter, AFullDiskIsToldBeforeAnythingIsWritten) {
    Content content(2 * kChunk);
    MemoryStorage storage({.capacity = kChunk});
    const auto failed = write_shard(storage, "", "a", {content.bytes()}, 2);
    ASSERT_FALSE(failed);
    EXPECT_THAT(failed.error().message(), HasSubstr("No space left on device"));
    EXPECT_EQ(storage.operations(), 2u) << "create, and the removal of nothing";
}

TEST(ShardWriter, AfterAPowerLossAShardIsWholeOrNotThere) {
    Content content(kChunk + 4321);
    std::uint64_t all = 1;
    int whole = 0;
    for (std::uint64_t at = 0; at <= all; ++at) {
        MemoryStorage storage;
        storage.lose_power_at(at);
        const auto written = write_shard(storage, "", "a", {content.bytes()}, 2);
        const bool certain = written && storage.sync_directory("");
        all = std::max(all, storage.operations());
        const StoredShard expected{
            .path = "a", .bytes = content.bytes().size(), .chunks = content.digests()};
        for (std::uint64_t seed = 0; seed < 6; ++seed) {
            SCOPED_TRACE(::testing::Message() << "power lost at " << at << ", seed " << seed);
            const auto found = storage.after_power_loss(seed);
            for (const std::string& name : names_in(*found, ""))
                EXPECT_TRUE(name == "a" || is_temporary(name)) << name;
            const auto damaged = verify_shard(*found, "", expected, 1);
            if (!damaged) {
                EXPECT_EQ(damaged.error().code(), Code::kNotFound) << damaged.error().message();
                EXPECT_FALSE(certain);
                continue;
            }
            EXPECT_THAT(*damaged, IsEmpty());
            ++whole;
        }
    }
    EXPECT_GT(whole, 6) << "also where its name was not synced";
}

TEST(VerifyShard, NamesTheChunksThatAreDamaged) {
    Content content(3 * kChunk + 100);
    MemoryStorage storage;
    const StoredShard shard = write_shard(storage, "", "a", {content.bytes()}, 2).value();
    for (const std::uint64_t byte : {2 * kChunk + 5, kChunk - 1, 3 * kChunk + 99})
        ASSERT_TRUE(storage.flip_bit("a", byte));
    const auto damaged = verify_shard(storage, "", shard, 3).value();
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
    for (const DamagedRange& range : damaged) ranges.emplace_back(range.begin, range.bytes);
    EXPECT_THAT(ranges, ElementsAre(std::pair(0, kChunk), std::pair(2 * kChunk, kChunk),
                                    std::pair(3 * kChunk, 100)));
}

TEST(VerifyShard, WhatIsNotThatFileIsToldAtOnce) {
    Content content(1000);
    MemoryStorage storage;
    const StoredShard shard = write_shard(storage, "", "a", {content.bytes()}, 1).value();
    const struct {
        StoredShard asked;
        Code code;
        const char* why;
    } cases[] = {
        {{.path = "b", .bytes = 1000, .chunks = shard.chunks}, Code::kNotFound, "No such file"},
        {{.path = "../a", .bytes = 1000, .chunks = shard.chunks}, Code::kInvalid, "no path"},
        {{.path = "a", .bytes = 999, .chunks = shard.chunks}, Code::kInvalid, "has 1000 bytes"},
        {{.path = "a", .bytes = ~std::uint64_t{0}, .chunks = shard.chunks},
         Code::kInvalid,
         "has 1000 bytes"},
        {{.path = "a", .bytes = 1000, .chunks = {}}, Code::kInvalid, "0 digests"},
        {{.path = "a", .bytes = 1000, .chunks = {1, 2}}, Code::kInvalid, "2 digests"},
    };
    for (const auto& [asked, code, why] : cases) {
        const auto damaged = verify_shard(storage, "", asked, 2);
        ASSERT_FALSE(damaged) << why;
        EXPECT_EQ(damaged.error().code(), code) << damaged.error().message();
        EXPECT_THAT(damaged.error().message(), HasSubstr(why));
    }
    storage.fail_from(storage.operations() + 1, Error(Code::kUnavailable, "a bad sector"));
    EXPECT_EQ(verify_shard(storage, "", shard, 2).error().message(), "a bad sector");
}

}  // namespace
}  // namespace muster::checkpoint::shard_writer_test
