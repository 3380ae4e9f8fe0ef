#include "rpc/internal/wire.h"

#include <gtest/gtest.h>

#include "base/task_group.h"
#include "base/test_loop.h"
#include "net/memory_stream.h"

namespace muster::rpc {
namespace {

class WireTest : public ::testing::Test, protected SimulatedLoop {
  protected:
    static constexpr Wire::Limits kLimits{.longest_frame = 100'000, .queued = 100'000};

    void TearDown() override {
        near.close();
        await(tasks.stop());
    }

    void start_writer() {
        tasks.spawn("writer", write());
        settle();
    }
    static Frame note(std::string body) {
        Frame frame;
        frame.mutable_note()->set_body(std::move(body));
        return frame;
    }
    /// Of the next frame.
    std::string read() {
        auto frame = await(far.read());
        EXPECT_TRUE(frame && *frame);
        return frame && *frame ? (*frame)->note().body() : "none";
    }

    TaskGroup tasks{context.get_executor()};
    std::pair<std::unique_ptr<net::ByteStream>, std::unique_ptr<net::ByteStream>> ends =
        net::make_memory_streams(context.get_executor(), 1000);
    Wire near{std::move(ends.first), context.get_executor(), kLimits, kLimits.longest_frame};
    Wire far{std::move(ends.second), context.get_executor(), kLimits, kLimits.longest_frame};
    std::optional<Result<void>> written;

  private:
    Task<void> write() { written = co_await near.write_queued(); }
};

TEST_F(WireTest, AFrameGoesOutAtOnceWhereNothingWaitsBeforeIt) {
    start_writer();
    ASSERT_TRUE(near.queue(note("one")));
    EXPECT_TRUE(far.has_input()) << "the writer was waited for";
    EXPECT_EQ(near.queued(), 0u);
    ASSERT_TRUE(near.queue(note("two")));
    EXPECT_EQ(read(), "one");
    EXPECT_EQ(read(), "two");
}

TEST_F(WireTest, NothingGoesOutWithoutAWriter) {
    ASSERT_TRUE(near.queue(note("one")));
    EXPECT_FALSE(far.has_input());
    start_writer();
    EXPECT_EQ(read(), "one");
}

TEST_F(WireTest, WhatHasNoRoomKeepsItsPlace) {
    start_writer();
    const std::string large(2500, 'x');
    ASSERT_TRUE(near.queue(note("first")));
    ASSERT_TRUE(near.queue(note(large)));
    EXPECT_GT(near.queued(), 1500u) << "the pipe has no room for it";
    ASSERT_TRUE(near.queue(note("last")));
    EXPECT_EQ(read(), "first");
    EXPECT_EQ(read(), large);
    EXPECT_EQ(read(), "last");
    EXPECT_EQ(near.queued(), 0u);
    ASSERT_TRUE(near.queue(note("again at once")));
    EXPECT_TRUE(far.has_input());
    EXPECT_EQ(read(), "again at once");
}

TEST_F(WireTest, TheLastFrameComesBehindWhatHadNoRoom) {
    start_writer();
    const std::string large(2500, 'x');
    ASSERT_TRUE(near.queue(note(large)));
    near.end_with(note("farewell"));
    EXPECT_FALSE(near.queue(note("too late")));
    EXPECT_EQ(read(), large);
    EXPECT_EQ(read(), "farewell");
    const auto end = await(far.read());
    ASSERT_TRUE(end);
    EXPECT_FALSE(*end) << "a clean end";
    ASSERT_TRUE(written);
    EXPECT_TRUE(*written);
}

TEST_F(WireTest, WhoWritesToNobodyIsToldByTheWriter) {
    start_writer();
    far.close();
    ASSERT_TRUE(near.queue(note("lost")));
    settle();
    ASSERT_TRUE(written);
    EXPECT_EQ(written->error().code(), Code::kUnavailable);
}

}  // namespace
}  // namespace muster::rpc
