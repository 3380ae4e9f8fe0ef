#include "base/async/cancellation.h"

#include <gtest/gtest.h>

#include <boost/system/system_error.hpp>
#include <exception>
#include <stdexcept>

namespace muster::cancellation_test {
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

TEST(Cancellation, IsDistinguishedFromOtherExceptions) {
    using boost::system::system_error;
    EXPECT_TRUE(is_cancellation(
        std::make_exception_ptr(system_error(boost::asio::error::operation_aborted))));
    EXPECT_FALSE(is_cancellation(std::make_exception_ptr(system_error(boost::asio::error::eof))));
    EXPECT_FALSE(is_cancellation(std::make_exception_ptr(std::runtime_error("it broke"))));
    EXPECT_FALSE(is_cancellation(std::make_exception_ptr(1)));
    EXPECT_FALSE(is_cancellation(std::exception_ptr()));
}

}  // namespace
}  // namespace muster::cancellation_test
