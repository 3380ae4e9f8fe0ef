#pragma once

#include <array>
#include <list>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "base/signal.h"
#include "base/task_group.h"
#include "net/byte_stream.h"
#include "net/memory_stream.h"

namespace muster::agent {

/// What lies between a node and everybody else: connections over it are late, stand still in one
/// direction or both, or are cut. What stands still is not lost, as with TCP.
class Cable {
  public:
    Cable(const asio::any_io_executor& executor, Clock& clock)
        : executor_(executor), clock_(clock), changed_(executor), tasks_(executor) {}

    Duration delay = {};
    bool up_stands = false;    ///< from the node
    bool down_stands = false;  ///< to it

    void set(bool up, bool down) {
        up_stands = up;
        down_stands = down;
        changed_.notify_all();
    }

    /// The node's end of a new connection.
    Task<Result<std::unique_ptr<net::ByteStream>>> connect(net::MemoryListener*& listener) {
        co_await clock_.sleep_for(delay);
        while (up_stands || down_stands) co_await changed_.wait();
        if (listener == nullptr) co_return Error(Code::kUnavailable, "nobody listens");
        CO_TRY(auto far, listener->connect());
        auto [near, ours] = net::make_memory_streams(executor_);
        auto lane = std::make_shared<Lane>(Lane{std::move(ours), std::move(far)});
        lanes_.push_back(lane);
        tasks_.spawn("up", carry(lane, *lane->near, *lane->far, up_stands));
        tasks_.spawn("down", carry(lane, *lane->far, *lane->near, down_stands));
        co_return std::move(near);
    }

    /// Both sides see an end.
    void cut() {
        for (const auto& weak : lanes_)
            if (const auto lane = weak.lock()) lane->close();
        lanes_.clear();
    }
    /// Nothing more goes over what there is, and neither side sees an end: the node has no power.
    void go_dark() {
        for (const auto& weak : lanes_)
            if (const auto lane = weak.lock()) lane->dark = true;
        lanes_.clear();
    }
    Task<void> close() {
        cut();
        co_await tasks_.stop();
    }

  private:
    struct Lane {
        std::unique_ptr<net::ByteStream> near;
        std::unique_ptr<net::ByteStream> far;
        bool dark = false;

        void close() const {
            near->close();
            far->close();
        }
    };

    Task<void> carry(std::shared_ptr<Lane> lane, net::ByteStream& from, net::ByteStream& to,
                     const bool& stands) {
        std::array<char, 4096> bytes;
        for (;;) {
            const auto size = co_await from.read_some(asio::buffer(bytes));
            if (delay > Duration::zero()) co_await clock_.sleep_for(delay);
            while (stands || lane->dark) co_await changed_.wait();
            if (!size) break;
            if (*size == 0) {
                if (!co_await to.shut_down_write()) break;
                co_return;
            }
            if (!co_await to.write(asio::buffer(bytes.data(), *size))) break;
        }
        lane->close();
    }

    asio::any_io_executor executor_;
    Clock& clock_;
    std::list<std::weak_ptr<Lane>> lanes_;
    Signal changed_;
    TaskGroup tasks_;
};

}  // namespace muster::agent
