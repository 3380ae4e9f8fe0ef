#include "base/async/signal.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/cancellation_state.hpp>

namespace muster {

Task<void> Signal::wait() {
    auto [error] = co_await timer_.async_wait(asio::as_tuple(asio::use_awaitable));
    (void)error;  // the timer never expires: notify_all() or a cancellation ends it
    auto state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none)
        throw boost::system::system_error(asio::error::operation_aborted);
}

}  // namespace muster
