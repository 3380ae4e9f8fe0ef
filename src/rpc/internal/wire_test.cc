#include "rpc/internal/wire.h"

#include <gtest/gtest.h>

#include <tuple>
#include <utility>

#include "base/async/task_group.h"
#include "base/test_loop.h"
#include "net/forwarding_stream.h"
#include "net/memory_stream.h"

namespace muster::rpc::wire_test {
namespace {

/// Takes what it can't hand on, as TLS does whose socket is full, until somebody waits for it.
class FullStream final : public net::ForwardingStream {
  public:
    explicit FullStream(std::unique_ptr<net::ByteStream> stream)
        : ForwardingStream(std::move(stream)) {}

    Task<Result<void>> write(net::ConstBuffers bytes) override {
        const std::string all = std::exchange(unsent_, {}) + bytes.to_string();
        co_return co_await below().write(asio::buffer(all));
    }
    std::size_t write_now(net::ConstBuffers bytes) override {
        if (has_unsent()) return 0;
        unsent_ = bytes.to_string();
        return unsent_.size();
    }
    bool has_unsent() const override { return !unsent_.empty(); }

  private:
    std::string unsent_;
};

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

class FullWireTest : public WireTest {
  protected:
    void TearDown() override {
        full.close();
        WireTest::TearDown();
    }
    Task<void> write_full() { std::ignore = co_await full.write_queued(); }

    std::pair<std::unique_ptr<net::ByteStream>, std::unique_ptr<net::ByteStream>> more_ends =
        net::make_memory_streams(context.get_executor(), 1000);
    Wire full{std::make_unique<FullStream>(std::move(more_ends.first)), context.get_executor(),
              kLimits, kLimits.longest_frame};
    Wire other{std::move(more_ends.second), context.get_executor(), kLimits, kLimits.longest_frame};
};

TEST_F(FullWireTest, WhatAStreamTookAndDidNotSendIsSentByTheWriter) {
    tasks.spawn("writer of a full stream", write_full());
    settle();
    ASSERT_TRUE(full.queue(note("alone")));
    settle();
    ASSERT_TRUE(other.has_input()) << "until the next frame nothing sends it";
    for (const char* const body : {"one", "two", "three"}) ASSERT_TRUE(full.queue(note(body)));
    for (const char* const body : {"alone", "one", "two", "three"}) {
        const auto frame = await(other.read());
        ASSERT_TRUE(frame && *frame);
        EXPECT_EQ((*frame)->note().body(), body);
    }
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
}  // namespace muster::rpc::wire_test
