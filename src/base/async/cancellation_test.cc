#include "base/async/cancellation.h"

#include <gtest/gtest.h>

#include <boost/system/system_error.hpp>

namespace muster {
namespace {

TEST(Cancellation, AloneIsThrownOn) {
    EXPECT_NO_THROW(rethrow_cancellation({}));
    EXPECT_NO_THROW(rethrow_cancellation(boost::asio::error::connection_reset));
    try {
        rethrow_cancellation(boost::asio::error::operation_aborted);
        FAIL() << "a cancellation was swallowed";
    } catch (const boost::system::system_error& error) {
        EXPECT_TRUE(is_cancellation(error.code()));
    }
    EXPECT_FALSE(is_cancellation(boost::asio::error::eof));
}

}  // namespace
}  // namespace muster
