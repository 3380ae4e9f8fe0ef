#include "base/async/run_to_end.h"

#include <gtest/gtest.h>

#include <boost/asio/post.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"

namespace muster::run_to_end_test {
namespace {

Task<std::string> say(std::string what) {
    co_await asio::post(asio::use_awaitable);
    co_return what;
}

Task<void> fail() {
    co_await asio::post(asio::use_awaitable);
    throw std::runtime_error("it broke");
}

TEST(RunToEnd, ReturnsWhatTheTaskDidAfterAllElseThatWaits) {
    asio::io_context loop(1);
    bool later = false;
    asio::post(loop, [&] { asio::post(loop, [&] { asio::post(loop, [&] { later = true; }); }); });
    EXPECT_EQ(run_to_end(loop, say("done")), "done");
    EXPECT_TRUE(later);
}

Task<int> fail_to_return() {
    co_await fail();
    co_return 0;
}

TEST(RunToEnd, EndsTheProcessWhenTheTaskThrows) {
    asio::io_context loop(1);
    EXPECT_DEATH(run_to_end(loop, fail()), "the main task.*it broke");
    EXPECT_DEATH((void)run_to_end(loop, fail_to_return()), "the main task.*it broke");
}

TEST(RunToEnd, ContinuesAfterAHandlerThatThrows) {
    asio::io_context loop(1);
    std::vector<std::string> logged;
    log::set_sink([&](log::Level, std::string_view line) { logged.emplace_back(line); });
    asio::post(loop, [] { throw std::runtime_error("a handler broke"); });
    EXPECT_EQ(run_to_end(loop, say("done")), "done");
    log::set_sink({});
    ASSERT_EQ(logged.size(), 1u);
    EXPECT_NE(logged[0].find("a handler broke"), std::string::npos);
}

}  // namespace
}  // namespace muster::run_to_end_test
