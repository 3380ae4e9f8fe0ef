#include "base/async/first_of.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <exception>
#include <utility>

namespace muster {

Task<void> first_of(Task<void> one, Task<void> other) {
    co_await index_of_first(std::move(one), std::move(other));
}

Task<std::size_t> index_of_first(Task<void> one, Task<void> other) {
    const auto executor = co_await asio::this_coro::executor;
    const auto [order, thrown_by_one, thrown_by_other] =
        co_await asio::experimental::make_parallel_group(
            asio::co_spawn(executor, std::move(one), asio::deferred),
            asio::co_spawn(executor, std::move(other), asio::deferred))
            .async_wait(asio::experimental::wait_for_one(), asio::use_awaitable);
    const std::size_t first = order.front();
    const std::exception_ptr& thrown = first == 0 ? thrown_by_one : thrown_by_other;
    if (thrown) std::rethrow_exception(thrown);
    co_return first;
}

}  // namespace muster
