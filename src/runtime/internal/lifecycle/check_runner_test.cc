#include "runtime/internal/lifecycle/check_runner.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "base/async/task_group.h"
#include "base/test_loop.h"
#include "base/time/sim_clock.h"
#include "runtime/internal/lifecycle/pod_execs.h"

namespace muster::runtime::check_runner_test {
namespace {

using namespace std::chrono_literals;

class CheckRunnerTest : public ::testing::Test, protected RealLoop {
  protected:
    CheckResult run(Handler handler, std::optional<Duration> limit = 1s) {
        return await(
            runner.run(std::move(handler), "127.0.0.1", limit,
                       [this](std::vector<std::string> command) { return exec(command); }));
    }
    Task<CheckResult> exec(std::vector<std::string> command) {
        ran = std::move(command);
        co_await clock.sleep_for(takes);
        co_return CheckResult{.success = true, .output = {}};
    }
    Task<void> run_and_forget(Handler handler) {
        (void)co_await runner.run(
            std::move(handler), "127.0.0.1", 1h,
            [this](std::vector<std::string> command) { return exec(command); });
    }
    static Result<UniqueFd> open() {
        return UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    }

    CheckRunner runner{context.get_executor(), clock, open};
    std::vector<std::string> ran;
    Duration takes{};
};

TEST_F(CheckRunnerTest, EachKindGoesItsWay) {
    EXPECT_TRUE(run(ExecCheck{{"cat", "x"}}).success);
    EXPECT_EQ(ran, (std::vector<std::string>{"cat", "x"}));
    EXPECT_TRUE(run(SleepCheck{0s}, std::nullopt).success);
    asio::ip::tcp::acceptor acceptor(context,
                                     {asio::ip::address_v4::loopback(), asio::ip::port_type(0)});
    EXPECT_TRUE(run(TcpCheck{.host = "", .port = acceptor.local_endpoint().port()}).success)
        << "an absent host is the pod itself";
}

TEST_F(CheckRunnerTest, WhatTakesTooLongHasFailed) {
    asio::ip::tcp::acceptor acceptor(context,
                                     {asio::ip::address_v4::loopback(), asio::ip::port_type(0)});
    takes = 24h;
    EXPECT_EQ(run(ExecCheck{{"cat", "x"}}, 0s).output, "command \"cat x\" timed out after 0s");
    EXPECT_EQ(
        run(
            HttpCheck{
                .host = "", .port = acceptor.local_endpoint().port(), .path = "/up", .headers = {}},
            0s)
            .output,
        fmt::format("GET /up at port {} timed out after 0s", acceptor.local_endpoint().port()));
}

TEST_F(CheckRunnerTest, APodThatGoesEndsItsChecks) {
    takes = 24h;
    TaskGroup tasks(context.get_executor());
    tasks.spawn_essential("check", run_and_forget(ExecCheck{{"cat", "x"}}));
    run_until([this] { return !ran.empty(); });
    await(tasks.stop());  // aborts if the check throws anything but operation_aborted
}

TEST(ResultOfCommand, ByItsExitStatusWithWhatItWrote) {
    const int exited_with_3 = 3 << 8;
    EXPECT_TRUE(result_of_command(0, "text").success);
    EXPECT_EQ(result_of_command(exited_with_3, "no such file\n").output,
              "no such file (exit code 3)");
    EXPECT_EQ(result_of_command(exited_with_3, "").output, "exit code 3");
    EXPECT_EQ(result_of_command(SIGKILL, "").output, "killed by signal 9");
    EXPECT_FALSE(result_of_command(SIGKILL, "").success);
}

}  // namespace
}  // namespace muster::runtime::check_runner_test
