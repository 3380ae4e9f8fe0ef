#include "net/accept_each.h"

#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <vector>

#include "base/async/signal.h"
#include "base/async/task_group.h"
#include "base/test_loop.h"
#include "net/memory_stream.h"

namespace muster::net::accept_each_test {
namespace {

using namespace std::chrono_literals;

/// Returns what it is told to, and then waits.
class ScriptedListener final : public Listener {
  public:
    ScriptedListener(asio::any_io_executor executor, std::deque<std::optional<Code>> script)
        : executor_(std::move(executor)), script_(std::move(script)), closed_(executor_) {}

    Task<Result<std::unique_ptr<ByteStream>>> accept() override {
        while (script_.empty()) {
            if (is_closed_) co_return Error(Code::kCancelled, "closed");
            co_await closed_.wait();
        }
        const std::optional<Code> next = script_.front();
        script_.pop_front();
        if (next) co_return Error(*next, "too many open files");
        co_return std::move(make_memory_streams(executor_).first);
    }
    void close() override {
        is_closed_ = true;
        closed_.notify_all();
    }
    std::string address() const override { return "script"; }

  private:
    asio::any_io_executor executor_;
    std::deque<std::optional<Code>> script_;
    Signal closed_;
    bool is_closed_ = false;
};

class AcceptEach : public ::testing::Test, protected SimulatedLoop {};

TEST_F(AcceptEach, GoesOnWhenThereIsRoomAgainAndEndsWithTheListener) {
    ScriptedListener listener(context.get_executor(),
                              {std::nullopt, Code::kTooManyRequests, Code::kTooManyRequests,
                               std::nullopt, Code::kUnavailable, std::nullopt});
    TaskGroup tasks(context.get_executor());
    std::vector<Instant> came;
    const Instant begin = clock.now();
    tasks.spawn("accept",
                accept_each(listener, clock, "connections",
                            [&](std::unique_ptr<ByteStream>) { came.push_back(clock.now()); }));
    run_until([&] { return came.size() == 3; });
    EXPECT_EQ(came[0] - begin, 0ms);
    EXPECT_EQ(came[1] - begin, 200ms);
    EXPECT_EQ(came[2] - begin, 300ms);
    listener.close();
    await(tasks.join());
}

TEST_F(AcceptEach, ContinuesAfterAConnectionThatCantBeTaken) {
    ScriptedListener listener(context.get_executor(), std::deque<std::optional<Code>>(3));
    TaskGroup tasks(context.get_executor());
    int taken = 0;
    tasks.spawn_essential(
        "accept", accept_each(listener, clock, "connections", [&](std::unique_ptr<ByteStream>) {
            if (++taken == 2) throw std::bad_alloc();
        }));
    run_until([&] { return taken == 3; });
    listener.close();
    await(tasks.join());
}

// A client that always has another connection ready delays no one else.
TEST_F(AcceptEach, LetsOthersRunAfterAFewConnections) {
    ScriptedListener listener(context.get_executor(), std::deque<std::optional<Code>>(100));
    TaskGroup tasks(context.get_executor());
    std::string order;
    tasks.spawn("accept",
                accept_each(listener, clock, "connections", [&](std::unique_ptr<ByteStream>) {
                    order += 'a';
                    tasks.spawn("served", [](std::string& into) -> Task<void> {
                        into += 's';
                        co_return;
                    }(order));
                }));
    run_until([&] { return order.size() == 200; });
    EXPECT_EQ(order.find(std::string(17, 'a')), std::string::npos) << order;
    listener.close();
    await(tasks.join());
}

}  // namespace
}  // namespace muster::net::accept_each_test
