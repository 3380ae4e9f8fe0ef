#include "net/accept_each.h"

#include <boost/asio/post.hpp>
#include <utility>

#include "base/log.h"
#include "base/unexpected.h"

namespace muster::net {

Task<void> accept_each(Listener& listener, Clock& clock, std::string what,
                       std::function<void(std::unique_ptr<ByteStream>)> take,
                       std::function<void()> lacks_room) {
    constexpr Duration kPause = std::chrono::milliseconds(100);
    constexpr int kAtOnce = 16;
    const auto executor = co_await asio::this_coro::executor;
    bool failing = false;
    for (int taken = 1;; ++taken) {
        auto stream = co_await listener.accept();
        if (!stream) {
            if (stream.error().code() == Code::kCancelled) co_return;
            if (!std::exchange(failing, true))
                log::warning(what + " can't be accepted for the moment",
                             {{"error", stream.error().message()}});
            if (lacks_room) contained(what, lacks_room);
            co_await clock.sleep_for(kPause);
            continue;
        }
        failing = false;
        // If one connection can't be taken, others still can.
        contained(what, [&] { take(*std::move(stream)); });
        if (taken % kAtOnce == 0) co_await asio::post(executor, asio::use_awaitable);
    }
}

}  // namespace muster::net
