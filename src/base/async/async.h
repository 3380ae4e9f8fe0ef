#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace muster {

namespace asio = boost::asio;

/// The return type of all our coroutines. Parameters of coroutines are values, or references to
/// things that outlive the task group that runs them: anything else dangles at the first
/// suspension.
template <class T>
using Task = asio::awaitable<T>;

}  // namespace muster
