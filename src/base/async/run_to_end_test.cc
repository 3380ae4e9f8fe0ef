#include "base/async/run_to_end.h"

#include <gtest/gtest.h>

#include <boost/asio/post.hpp>
#include <stdexcept>
#include <string>

namespace muster {
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

TEST(RunToEnd, ThrowsWhatTheTaskThrows) {
    asio::io_context loop(1);
    EXPECT_THROW(run_to_end(loop, fail()), std::runtime_error);
}

}  // namespace
}  // namespace muster
