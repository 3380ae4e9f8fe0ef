#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>

#include "base/rng.h"
#include "base/test_seeds.h"
#include "base/time/real_clock.h"
#include "checkpoint/shm/segment_reader.h"
#include "checkpoint/shm/segment_writer.h"

// A segment as a writer and readers of several processes have it.

namespace muster::checkpoint::segment_test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr SegmentShape kShape{.slots = 2, .capacity = 256 * 1024};

Table two_tensors(std::uint64_t bytes) {
    return {.tensors = {{.name = "model", .dtype = Dtype::kU8, .shape = {bytes}},
                        {.name = "step", .dtype = Dtype::kI64, .shape = {}}}};
}

/// What the save of a step puts everywhere.
std::byte byte_of(std::uint64_t step) { return static_cast<std::byte>(step % 251); }

Result<void> save(SegmentWriter& writer, std::uint64_t step, std::uint64_t bytes = 1000) {
    TRY(auto saving, writer.begin(two_tensors(bytes), {.epoch = 1, .generation = 2, .step = step}));
    std::ranges::fill(saving.tensor(0), byte_of(step));
    std::memcpy(saving.tensor(1).data(), &step, sizeof step);
    saving.publish();
    return {};
}

/// Whether the image is one that save() has made, whole.
void expect_whole(const HeldImage& image, std::uint64_t step) {
    EXPECT_EQ(image.facts().step, step);
    std::uint64_t told = 0;
    std::memcpy(&told, image.tensor(0).data(), sizeof told);
    EXPECT_EQ(told, step);
    EXPECT_EQ(std::ranges::count(image.tensor(1), byte_of(step)),
              static_cast<std::ptrdiff_t>(image.tensor(1).size()));
}

class SegmentTest : public ::testing::Test {
  protected:
    SegmentTest() {
        std::string pattern = (fs::temp_directory_path() / "segment-XXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
    }
    ~SegmentTest() override { fs::remove_all(folder_); }

    SegmentWriter create(SegmentShape shape = kShape) {
        return SegmentWriter::over(
                   SegmentFile::create(path(), {.job = "j", .rank = 3}, shape).value())
            .value();
    }
    SegmentWriter write_again() {
        return SegmentWriter::over(SegmentFile::open(path()).value()).value();
    }
    SegmentReader reader() { return SegmentReader(SegmentFile::open(path()).value()); }
    HeldImage newest() { return reader().newest().value().value(); }
    fs::path path() const { return folder_ / "segment"; }
    /// Changes a byte of the file.
    void flip(std::uint64_t at) {
        std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
        file.seekg(static_cast<std::streamoff>(at));
        const auto byte = static_cast<char>(file.get() ^ 1);
        file.seekp(static_cast<std::streamoff>(at));
        file.put(byte);
    }

    fs::path folder_;
};

TEST_F(SegmentTest, WhatIsPublishedIsFound) {
    SegmentWriter writer = create();
    EXPECT_EQ(reader().newest().value(), std::nullopt);
    for (std::uint64_t step = 10; step <= 50; step += 10) {
        ASSERT_TRUE(save(writer, step));
        expect_whole(newest(), step);
    }
    const HeldImage image = newest();
    EXPECT_EQ(image.sequence(), 5u);
    EXPECT_EQ(image.facts(), (ImageFacts{.epoch = 1, .generation = 2, .step = 50}));
    EXPECT_EQ(decode(std::string_view(reinterpret_cast<const char*>(image.bytes().data()), kPage),
                     image.bytes().size())
                  .value(),
              image.table())
        << "it is a safetensors file";
    EXPECT_EQ(reader().facts().owner, (SegmentOwner{.job = "j", .rank = 3}));
    struct stat facts{};
    ASSERT_EQ(::stat(path().c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777, 0600u);
}

TEST_F(SegmentTest, ASaveThatIsNotPublishedNeverWas) {
    SegmentWriter writer = create();
    ASSERT_TRUE(save(writer, 1));
    ASSERT_TRUE(save(writer, 2));
    {
        auto saving = writer.begin(two_tensors(1000), {.step = 3});
        ASSERT_TRUE(saving);
        std::ranges::fill(saving->tensor(0), std::byte{0xff});
        expect_whole(newest(), 2);
    }
    expect_whole(newest(), 2);
    ASSERT_TRUE(save(writer, 4));
    expect_whole(newest(), 4);
}

TEST_F(SegmentTest, AnImageStaysAsLongAsItIsHeld) {
    SegmentWriter writer = create();
    ASSERT_TRUE(save(writer, 1));
    {
        const HeldImage held = newest();
        ASSERT_TRUE(save(writer, 2));
        const auto refused = save(writer, 3);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code(), Code::kTooManyRequests);
        expect_whole(held, 1);
        expect_whole(newest(), 2);
    }
    EXPECT_TRUE(save(writer, 3));
}

TEST_F(SegmentTest, OneSlotHasNothingWhileItIsWritten) {
    SegmentWriter writer = create({.slots = 1, .capacity = kShape.capacity});
    ASSERT_TRUE(save(writer, 1));
    {
        const HeldImage held = newest();
        EXPECT_FALSE(save(writer, 2)) << "it is read";
        expect_whole(held, 1);
    }
    auto saving = writer.begin(two_tensors(1000), {.step = 2});
    ASSERT_TRUE(saving);
    EXPECT_EQ(reader().newest().value(), std::nullopt);
    saving->publish();
    EXPECT_EQ(newest().facts().step, 2u);
}

TEST_F(SegmentTest, AnImageIsFoundByItsStepAsLongAsItIsThere) {
    SegmentWriter writer = create();
    EXPECT_THAT(reader().steps(), IsEmpty());
    for (const std::uint64_t step : {10u, 20u, 30u}) ASSERT_TRUE(save(writer, step));
    EXPECT_THAT(reader().steps(), ElementsAre(30, 20));
    for (const std::uint64_t step : {20u, 30u})
        expect_whole(reader().of_step(step).value().value(), step);
    EXPECT_EQ(reader().of_step(10).value(), std::nullopt);

    const HeldImage older = reader().of_step(20).value().value();
    const auto refused = save(writer, 40);
    EXPECT_EQ(refused.error().code(), Code::kTooManyRequests) << "it is held";
    EXPECT_THAT(refused.error().message(), HasSubstr("of step 20"));
    expect_whole(older, 20);
}

TEST_F(SegmentTest, AStepThatIsSavedAgainIsTheNewerImage) {
    SegmentWriter writer = create();
    ASSERT_TRUE(save(writer, 10, 500));
    ASSERT_TRUE(save(writer, 10, 1000));
    EXPECT_EQ(reader().of_step(10).value()->sequence(), 2u);
}

TEST_F(SegmentTest, AStepThatIsBeingWrittenIsNotFound) {
    SegmentWriter writer = create();
    ASSERT_TRUE(save(writer, 10));
    auto saving = writer.begin(two_tensors(1000), {.step = 20}).value();
    EXPECT_THAT(reader().steps(), ElementsAre(10));
    EXPECT_EQ(reader().of_step(20).value(), std::nullopt);
    saving.publish();
    EXPECT_THAT(reader().steps(), ElementsAre(20, 10));
}

TEST_F(SegmentTest, AStateMayGrowAndShrinkWithinItsSlot) {
    SegmentWriter writer = create();
    writer.file().touch(0);
    std::uint64_t step = 0;
    for (const std::uint64_t bytes : {1000u, 1000u, 50'000u, 0u, 1000u}) {
        ASSERT_TRUE(save(writer, ++step, bytes));
        expect_whole(newest(), step);
        EXPECT_EQ(newest().tensor(1).size(), bytes);
    }
}

TEST_F(SegmentTest, TheNextProcessContinues) {
    {
        SegmentWriter writer = create();
        for (std::uint64_t step = 1; step <= 3; ++step) ASSERT_TRUE(save(writer, step));
    }
    SegmentWriter writer = write_again();
    expect_whole(newest(), 3);
    ASSERT_TRUE(save(writer, 4));
    EXPECT_EQ(newest().sequence(), 4u);
}

TEST_F(SegmentTest, OneProcessWrites) {
    const SegmentWriter writer = create();
    const auto second = SegmentWriter::over(SegmentFile::open(path()).value());
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code(), Code::kConflict);
    EXPECT_THAT(second.error().message(), HasSubstr("rank 3 of the job j"));
}

TEST_F(SegmentTest, WhatDoesNotFitIsRefusedWithTheAmounts) {
    SegmentWriter writer = create();
    ASSERT_TRUE(save(writer, 1));
    const auto refused = save(writer, 2, kShape.capacity);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::kTooLarge);
    EXPECT_THAT(refused.error().message(), HasSubstr("a slot has 262144"));
    expect_whole(newest(), 1);
    // All of a slot can be used.
    const std::uint64_t most = kShape.capacity - kPage - 8 - 2 * 8;
    EXPECT_TRUE(save(writer, 2, most));
    EXPECT_FALSE(save(writer, 3, most + 1));
    expect_whole(newest(), 2);
}

TEST_F(SegmentTest, BitsThatFlipAreNamed) {
    SegmentWriter writer = create();
    ASSERT_TRUE(save(writer, 1));
    const std::uint64_t image = kShape.slot_begin(0) + kPage;
    {
        HeldImage held = newest();
        EXPECT_FALSE(held.has_digests());
        EXPECT_THAT(held.damaged(), IsEmpty()) << "there is nothing to compare with";
        held.make_digests();
        EXPECT_TRUE(newest().has_digests()) << "for other processes, too";
        EXPECT_EQ(newest().digests(), held.digests());
        EXPECT_THAT(held.damaged(), IsEmpty());
    }
    flip(image + kPage + 8 + 500);
    EXPECT_THAT(newest().damaged(), ElementsAre("model"));
    flip(image + kPage + 3);
    EXPECT_THAT(newest().damaged(), ElementsAre("step", "model"));
    flip(image + 20);
    EXPECT_THAT(reader().newest().error().message(),
                HasSubstr("the table of the image is damaged"));
    flip(kShape.slot_begin(0) + 24);
    EXPECT_THAT(reader().newest().error().message(), HasSubstr("header of the image"));
    flip(kShape.slot_begin(0));
    EXPECT_THAT(reader().newest().error().message(), HasSubstr("not where it is said to be"));
    flip(kNewestWord + 7);
    EXPECT_FALSE(reader().newest());
    ASSERT_TRUE(save(writer, 2)) << "and none of it keeps a save from being found";
    EXPECT_FALSE(newest().has_digests());
}

TEST_F(SegmentTest, WhatIsNoSegmentIsToldBeforeItIsMapped) {
    const auto code = [&] { return SegmentFile::open(path()).error().code(); };
    EXPECT_EQ(code(), Code::kNotFound);
    std::ofstream(path()) << "x";
    EXPECT_EQ(code(), Code::kInvalid);
    fs::remove(path());
    ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
    EXPECT_EQ(code(), Code::kInvalid);
    fs::remove(path());
    {
        create();
    }
    EXPECT_EQ(SegmentFile::create(path(), {}, kShape).error().code(), Code::kAlreadyExists);
    fs::resize_file(path(), kShape.bytes() - kPage);
    EXPECT_EQ(code(), Code::kInvalid);
    const fs::path other = folder_ / "other";
    fs::rename(path(), other);
    fs::create_symlink(other, path());
    EXPECT_FALSE(SegmentFile::open(path())) << "links are not followed";
}

TEST_F(SegmentTest, AMemoryThatIsTooSmallIsToldAndLeftAlone) {
    const auto made = SegmentFile::create("/dev/shm/muster-segment-test", {.job = "j"},
                                          {.slots = 2, .capacity = 1ULL << 46});
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code(), Code::kUnavailable);
    EXPECT_THAT(made.error().message(), HasSubstr("/dev/shm has no room for 2 slots"));
    EXPECT_FALSE(fs::exists("/dev/shm/muster-segment-test"));
}

/// Saves without an end and tells each step that it has published.
[[noreturn]] void save_until_killed(const fs::path& path, int told, std::uint64_t first) {
    auto writer = SegmentWriter::over(SegmentFile::open(path).value());
    if (!writer) ::_exit(1);
    for (std::uint64_t step = first;; ++step) {
        if (!save(*writer, step, 100'000 + step % 7 * 1000)) continue;  // both slots are read
        if (::write(told, &step, sizeof step) != sizeof step) ::_exit(2);
    }
}

/// A process that saves, which goes with this.
class Saver {
  public:
    Saver(const fs::path& path, std::uint64_t first) {
        std::array<int, 2> ends{};
        EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
        told_ = UniqueFd(ends[0]);
        const UniqueFd tells(ends[1]);
        pid_ = ::fork();
        if (pid_ == 0) save_until_killed(path, tells.get(), first);
    }
    ~Saver() { kill(); }

    std::uint64_t next_step() {
        EXPECT_EQ(::read(told_.get(), &last_, sizeof last_), static_cast<ssize_t>(sizeof last_));
        return last_;
    }
    /// The last step that it told.
    std::uint64_t kill() {
        const pid_t pid = std::exchange(pid_, 0);
        if (pid == 0) return last_;
        ::kill(pid, SIGKILL);
        std::uint64_t step = 0;
        while (::read(told_.get(), &step, sizeof step) == sizeof step) last_ = step;
        EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);
        return last_;
    }

  private:
    UniqueFd told_;
    pid_t pid_ = 0;
    std::uint64_t last_ = 0;
};

/// For a kill in the middle of a save: any moment is as good.
void wait_a_moment(std::uint64_t microseconds) {
    RealClock clock;
    const Instant end = clock.now() + std::chrono::microseconds(microseconds);
    while (clock.now() < end) continue;
}

TEST_F(SegmentTest, AKilledWriterLosesNothingThatItPublished) {
    Rng rng(seeds_of_this_run(50, 50).front());
    {
        create();
    }
    std::uint64_t step = 0;
    for (int kills = 0; kills < 100; ++kills) {
        Saver saver(path(), step + 1);
        for (std::uint64_t saves = rng.below(5); saves-- > 0;) saver.next_step();
        wait_a_moment(rng.below(300));
        const std::uint64_t told = saver.kill();
        const auto image = reader().newest();
        ASSERT_TRUE(image) << image.error().message();
        if (!*image) {
            EXPECT_EQ(told, 0u) << "nothing was published yet";
            continue;
        }
        step = (*image)->facts().step;
        EXPECT_GE(step, told);
        expect_whole(**image, step);
    }
}

TEST_F(SegmentTest, ReadersFindWholeImagesWhileAnotherProcessSaves) {
    {
        create({.slots = 3, .capacity = kShape.capacity});
    }
    Saver saver(path(), 1);
    saver.next_step();
    std::uint64_t step = 0;
    const SegmentReader segment = reader();
    for (int reads = 0; reads < 200; ++reads) {
        auto image = segment.newest();
        if (!image) {
            EXPECT_EQ(image.error().code(), Code::kUnavailable) << image.error().message();
            continue;
        }
        ASSERT_TRUE(*image);
        EXPECT_GE((*image)->facts().step, step);
        step = (*image)->facts().step;
        expect_whole(**image, step);
        (*image)->make_digests();
        EXPECT_THAT((*image)->damaged(), IsEmpty());
        saver.next_step();
    }
}

}  // namespace
}  // namespace muster::checkpoint::segment_test
