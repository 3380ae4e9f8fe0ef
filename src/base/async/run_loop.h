#pragma once

#include <boost/asio/io_context.hpp>

namespace muster {

/// Runs the loop of a process until nothing is left to do. If a handler that belongs to no task
/// throws, the exception is logged and the loop continues with the next handler.
void run_loop(boost::asio::io_context& context);

}  // namespace muster
