#pragma once

#include <boost/asio/error.hpp>
#include <boost/system/error_code.hpp>
#include <exception>

namespace muster {

/// True of what an operation ends with when its coroutine is cancelled.
inline bool is_cancellation(const boost::system::error_code& error) {
    return error == boost::asio::error::operation_aborted;
}

/// True of what a cancelled coroutine throws. It has to be passed on, and is not a fault.
bool is_cancellation(const std::exception_ptr& thrown);

/// Throws a cancellation on, which is no error of an operation that redirects its errors.
void rethrow_cancellation(const boost::system::error_code& error);

}  // namespace muster
