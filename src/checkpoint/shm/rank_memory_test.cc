#include "checkpoint/shm/rank_memory.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fstream>
#include <utility>

#include "base/rng.h"
#include "base/test_seeds.h"
#include "base/time/real_clock.h"
#include "checkpoint/image/segment_layout.h"
#include "checkpoint/shm/memory_room.h"
#include "checkpoint/shm/rank_writer.h"

// The segments of a rank while its state grows and its processes come and go.

namespace muster::checkpoint::rank_memory_test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Table state(std::uint64_t bytes) {
    return {.tensors = {{.name = "state", .dtype = Dtype::kU8, .shape = {bytes}}}};
}
std::byte byte_of(std::uint64_t step) { return static_cast<std::byte>(step % 251); }

Result<void> save(RankWriter& writer, std::uint64_t step, std::uint64_t bytes) {
    const Table table = lay_out(state(bytes)).value();
    const std::uint64_t needed = needed_capacity(table, encode(table).value());
    return writer.save(table, needed, {.epoch = 1, .generation = 1, .step = step},
                       [&](std::span<const std::span<std::byte>> places) {
                           std::ranges::fill(places[0], byte_of(step));
                       });
}

class RankMemoryTest : public ::testing::Test {
  protected:
    RankMemoryTest() {
        std::string pattern = (fs::temp_directory_path() / "rank-XXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
    }
    ~RankMemoryTest() override { fs::remove_all(folder_); }

    MemoryPlace place(std::uint32_t rank = 3, std::string job = "default/bert") const {
        return {.directory = folder_, .owner = {.job = std::move(job), .user = 1000}, .rank = rank};
    }
    RankWriter claim(std::uint32_t slots = 2) const {
        return RankWriter::claim(place(), slots).value();
    }
    std::vector<std::uint64_t> numbers() const {
        std::vector<std::uint64_t> found;
        for (const FoundSegment& segment : find_segments(folder_, place().owner, 3).value())
            found.push_back(segment.number.number);
        return found;
    }
    /// Of the newest image, which is whole; 0: there is none.
    std::uint64_t newest_step() const {
        const auto found = find_newest_image(place()).value();
        if (!found) return 0;
        const std::uint64_t step = found->image.facts().step;
        const auto bytes = found->image.tensor(0);
        EXPECT_EQ(std::ranges::count(bytes, byte_of(step)),
                  static_cast<std::ptrdiff_t>(bytes.size()));
        return step;
    }
    fs::path segment(std::uint64_t number) const { return place().segment(number); }

    fs::path folder_;
};

TEST_F(RankMemoryTest, AStateThatGrowsGetsALargerSegment) {
    RankWriter writer = claim();
    ASSERT_TRUE(save(writer, 1, 1000));
    ASSERT_TRUE(save(writer, 2, 2000)) << "there is some room beyond what was asked for";
    EXPECT_THAT(numbers(), ElementsAre(1));
    ASSERT_TRUE(save(writer, 3, 1'000'000));
    EXPECT_THAT(numbers(), ElementsAre(2));
    EXPECT_EQ(newest_step(), 3u);
    ASSERT_TRUE(save(writer, 4, 500)) << "shrinking costs nothing";
    EXPECT_THAT(numbers(), ElementsAre(2));
    EXPECT_EQ(newest_step(), 4u);
}

TEST_F(RankMemoryTest, TheOldImageIsThereUntilTheLargerSegmentHasOne) {
    RankWriter writer = claim();
    ASSERT_TRUE(save(writer, 1, 1000));
    ASSERT_TRUE(writer.reserve(1'000'000));
    EXPECT_THAT(numbers(), ElementsAre(2, 1));
    EXPECT_EQ(newest_step(), 1u);
    ASSERT_TRUE(writer.reserve(3'000'000)) << "once more before it was used";
    EXPECT_THAT(numbers(), ElementsAre(3, 1));
    ASSERT_TRUE(save(writer, 2, 3'000'000));
    EXPECT_THAT(numbers(), ElementsAre(3));
    EXPECT_EQ(newest_step(), 2u);
}

TEST_F(RankMemoryTest, TheNextProcessTakesOver) {
    {
        RankWriter writer = claim();
        ASSERT_TRUE(save(writer, 7, 1000));
        ASSERT_TRUE(writer.reserve(1'000'000));
    }
    RankWriter writer = claim();
    EXPECT_EQ(newest_step(), 7u);
    EXPECT_TRUE(writer.has_room(1'000'000)) << "what was made for it is found";
    ASSERT_TRUE(save(writer, 8, 1'000'000));
    EXPECT_THAT(numbers(), ElementsAre(2));
    EXPECT_EQ(newest_step(), 8u);
}

TEST_F(RankMemoryTest, AnotherNumberOfSlotsIsAnotherSegment) {
    {
        RankWriter writer = claim(2);
        ASSERT_TRUE(save(writer, 1, 1000));
    }
    RankWriter writer = claim(3);
    EXPECT_FALSE(writer.has_room(1000));
    ASSERT_TRUE(save(writer, 2, 1000));
    EXPECT_EQ(writer.segment()->shape().slots, 3u);
    EXPECT_EQ(newest_step(), 2u);
}

TEST_F(RankMemoryTest, OneProcessSavesForARank) {
    RankWriter writer = claim();
    const auto second = RankWriter::claim(place(), 2);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code(), Code::kConflict);
    EXPECT_THAT(second.error().message(), HasSubstr("rank 3 of the job default/bert"));
    EXPECT_TRUE(RankWriter::claim(place(4), 2)) << "another rank";
    EXPECT_TRUE(RankWriter::claim(place(3, "default/bert2"), 2)) << "another job";
}

TEST_F(RankMemoryTest, WhatACrashLeftHalfMadeIsPassedOverAndRemoved) {
    {
        RankWriter writer = claim();
        ASSERT_TRUE(save(writer, 5, 1000));
    }
    std::ofstream(segment(2)) << std::string(10'000, '\0');
    std::ofstream(segment(3)) << "";
    EXPECT_EQ(newest_step(), 5u);
    RankWriter writer = claim();
    EXPECT_THAT(numbers(), ElementsAre(1));
    ASSERT_TRUE(save(writer, 6, 1'000'000));
    EXPECT_THAT(numbers(), ElementsAre(4)) << "a number is never used again";
}

TEST_F(RankMemoryTest, ASegmentOfAnotherJobIsNotTaken) {
    {
        RankWriter theirs = RankWriter::claim(place(3, "theirs"), 2).value();
        ASSERT_TRUE(save(theirs, 5, 1000));
    }
    fs::copy_file(place(3, "theirs").segment(1), segment(1));
    const auto claimed = RankWriter::claim(place(), 2);
    ASSERT_FALSE(claimed);
    EXPECT_EQ(claimed.error().code(), Code::kConflict);
    EXPECT_THAT(claimed.error().message(), HasSubstr("belongs to rank 3 of the job theirs"));
    EXPECT_EQ(find_newest_image(place()).error().code(), Code::kConflict);
    EXPECT_TRUE(fs::exists(segment(1)));
}

TEST_F(RankMemoryTest, DamageIsToldWhereNoOtherImageIs) {
    {
        RankWriter writer = claim();
        ASSERT_TRUE(save(writer, 5, 1000));
    }
    std::fstream file(segment(1), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(20);
    file.put('\xff');
    file.close();
    EXPECT_THAT(find_newest_image(place()).error().message(), HasSubstr(segment(1).string()));
}

TEST_F(RankMemoryTest, IsRemovedByRankOrWhole) {
    for (const std::uint32_t rank : {3u, 4u}) {
        RankWriter writer = RankWriter::claim(place(rank), 2).value();
        ASSERT_TRUE(save(writer, 1, 1000));
    }
    RankWriter others = RankWriter::claim(place(3, "default/bert2"), 2).value();
    ASSERT_TRUE(save(others, 1, 1000));
    EXPECT_EQ(remove_memory(folder_, place().owner, 4).value(), 1u);
    EXPECT_EQ(newest_step(), 1u);
    EXPECT_EQ(remove_memory(folder_, place().owner, std::nullopt).value(), 1u);
    EXPECT_EQ(newest_step(), 0u);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 2)
        << "the segment of the other job, and its lock";
    EXPECT_EQ(find_newest_image(place(3, "default/bert2")).value()->image.facts().step, 1u);
}

TEST_F(RankMemoryTest, ADirectoryThatIsNotThereIsNamed) {
    const MemoryPlace nowhere{.directory = folder_ / "x", .owner = place().owner, .rank = 3};
    EXPECT_EQ(find_newest_image(nowhere).error().code(), Code::kNotFound);
    EXPECT_THAT(RankWriter::claim(nowhere, 2).error().message(),
                HasSubstr((folder_ / "x").string()));
}

/// Saves a state that grows, without an end, and tells each step that it has published.
[[noreturn]] void save_until_killed(const MemoryPlace& place, int told, std::uint64_t first) {
    auto writer = RankWriter::claim(place, 2);
    if (!writer) ::_exit(1);
    for (std::uint64_t step = first;; ++step) {
        if (!save(*writer, step, step * 20'000)) ::_exit(2);
        if (::write(told, &step, sizeof step) != sizeof step) ::_exit(3);
    }
}

TEST_F(RankMemoryTest, AKillWhileTheStateGrowsLosesNothingThatWasPublished) {
    Rng rng(seeds_of_this_run(51, 51).front());
    RealClock clock;
    std::uint64_t step = 0;
    for (int kills = 0; kills < 60; ++kills) {
        std::array<int, 2> ends{};
        ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
        const UniqueFd told(ends[0]);
        UniqueFd tells(ends[1]);
        const pid_t pid = ::fork();
        if (pid == 0) save_until_killed(place(), tells.get(), step + 1);
        tells = {};
        std::uint64_t last = 0;
        for (std::uint64_t saves = rng.below(4); saves-- > 0;)
            ASSERT_EQ(::read(told.get(), &last, sizeof last), static_cast<ssize_t>(sizeof last));
        // Any moment of a save is as good.
        const Instant end = clock.now() + std::chrono::microseconds(rng.below(500));
        while (clock.now() < end) continue;
        ::kill(pid, SIGKILL);
        std::uint64_t one = 0;
        while (::read(told.get(), &one, sizeof one) == sizeof one) last = one;
        ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
        const std::uint64_t found = newest_step();
        EXPECT_GE(found, std::max(last, step));
        step = found;
        EXPECT_LE(numbers().size(), 3u) << "what is over is removed";
    }
    EXPECT_GT(step, 20u);
}

TEST(SegmentNames, AreOfOneJobOneUserAndOneRank) {
    const MemoryOwner owner{.job = "default/bert", .user = 1000};
    const std::string name = segment_name(owner, 3, 12);
    EXPECT_THAT(name, testing::MatchesRegex("muster-default_bert-[0-9a-f]+-3\\.12"));
    EXPECT_EQ(parse_segment_name(owner, name), (SegmentNumber{.rank = 3, .number = 12}));
    const std::string prefix = file_prefix(owner);
    for (const char* rest : {"3.0", "3.012", "03.1", "3", "3.", ".1", "3.1.2", "-3.1", "3.1 ",
                             "4294967296.1", "3.18446744073709551616", "3.lock"})
        EXPECT_EQ(parse_segment_name(owner, prefix + rest), std::nullopt) << rest;
    for (const MemoryOwner& other : {MemoryOwner{.job = "default_bert", .user = 1000},
                                     MemoryOwner{.job = "default/bert", .user = 1001}}) {
        EXPECT_EQ(parse_segment_name(other, name), std::nullopt);
        EXPECT_NE(writer_lock_name(other, 3), writer_lock_name(owner, 3));
    }
    const std::string long_job(127, 'x');
    EXPECT_LT(segment_name({.job = long_job, .user = 0}, UINT32_MAX, UINT64_MAX).size(), 255u);
}

TEST(MemoryRoom, WhatIsTooLittleIsToldWithBothAmounts) {
    const MemoryRoom room{
        .in_directory = 64'000'000, .of_machine = 8'000'000'000, .of_container = 2'000'000'000};
    EXPECT_TRUE(check_room(room, 64'000'000, "/dev/shm"));
    EXPECT_THAT(check_room(room, 4'100'000'000, "/dev/shm").error().message(),
                HasSubstr("/dev/shm needs room for 4.1 GB and has 64.0 MB left: give the container "
                          "more shared memory"));
    MemoryRoom large = room;
    large.in_directory = UINT64_MAX;
    EXPECT_THAT(check_room(large, 4'100'000'000, "/dev/shm").error().message(),
                HasSubstr("need 4.1 GB of memory and 2.0 GB are left"));
    EXPECT_EQ(in_words(999'999), "999999 bytes");
}

TEST(MemoryRoom, IsReadAsTheKernelTellsIt) {
    EXPECT_EQ(available_memory("MemTotal: 5 kB\nMemAvailable:   7 kB\n"), 7u * 1024);
    for (const char* text :
         {"", "MemAvailable:", "MemAvailable: x kB", "MemAvailable: 18446744073709551615 kB"})
        EXPECT_EQ(available_memory(text), std::nullopt) << text;
    const MemoryRoom here = memory_room("/dev/shm");
    EXPECT_LT(here.in_directory, UINT64_MAX);
    EXPECT_LT(here.of_machine, UINT64_MAX);
    EXPECT_EQ(memory_room("/nowhere").in_directory, UINT64_MAX);
}

}  // namespace
}  // namespace muster::checkpoint::rank_memory_test
