#pragma once

#include <array>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <utility>

#include "base/async/signal.h"
#include "base/async/task_group.h"
#include "base/rng.h"
#include "base/time/clock.h"
#include "net/byte_stream.h"
#include "net/memory_stream.h"
#include "sim/ledger/fault_windows.h"

namespace muster::sim::elastic {

/// The ways on which nothing gets through: one of them or both.
struct BlockedWays {
    bool up = false;    ///< from the node
    bool down = false;  ///< to it
};
inline BlockedWays draw_blocked_ways(Rng& rng) {
    const bool up = rng.chance(0.6);
    return {.up = up, .down = !up || rng.chance(0.5)};
}

/// What lies between a node and all others: connections over it are late, stand still in one
/// direction or both, or break in any of the ways in which they do. What stands still is not lost,
/// as with TCP.
class SimulatedLink {
  public:
    /// Of a connection to another node, which may lead over that one's link.
    using Onward = std::function<Task<Result<std::unique_ptr<net::ByteStream>>>()>;

    /// What nodes don't see is worse than what a master does not.
    enum class Of { kNode, kMaster };

    SimulatedLink(const asio::any_io_executor& executor, Clock& clock, FaultWindows& fault_windows,
                  Of of = Of::kNode)
        : executor_(executor),
          clock_(clock),
          fault_windows_(fault_windows),
          of_(of),
          changed_(executor),
          tasks_(executor) {}

    bool up_blocked = false;    ///< from the node
    bool down_blocked = false;  ///< to it

    void set_partition(bool up, bool down) {
        up_blocked = up;
        down_blocked = down;
        fault_windows_.partition(up || down, clock_.now());
        changed_.notify_all();
    }
    void set_delay(Duration up, Duration down) {
        up_delay_ = up;
        down_delay_ = down;
        fault_windows_.slow_link(up > Duration::zero() || down > Duration::zero(), clock_.now());
    }
    /// Partitions and delays are over.
    void heal() {
        set_partition(false, false);
        set_delay({}, {});
    }
    /// The machine that the node is on is cut off, besides what is wrong with the node itself. Who
    /// says so keeps a record of it.
    void set_machine_cut_off(bool so) {
        machine_cut_off_ = so;
        changed_.notify_all();
    }

    /// The node's end of a new connection.
    Task<Result<std::unique_ptr<net::ByteStream>>> connect(net::MemoryListener*& listener) {
        co_await opening();
        if (listener == nullptr) co_return Error(Code::kUnavailable, "nothing listens");
        CO_TRY(auto far, listener->connect());
        auto [near, inside] = net::make_memory_streams(executor_);
        carry({std::move(inside), std::move(far), listener});
        co_return std::move(near);
    }
    Task<Result<std::unique_ptr<net::ByteStream>>> connect(Onward onward) {
        co_await opening();
        CO_TRY(auto far, co_await onward());
        auto [near, inside] = net::make_memory_streams(executor_);
        carry({std::move(inside), std::move(far), nullptr});
        co_return std::move(near);
    }
    /// The other end of a new connection to what listens on the node, which is asked for when the
    /// way there is open.
    Task<Result<std::unique_ptr<net::ByteStream>>> accept(
        std::function<std::shared_ptr<net::MemoryListener>()> listener) {
        co_await opening();
        const auto found = listener();
        if (!found) co_return Error(Code::kUnavailable, "nothing listens");
        CO_TRY(auto inside, found->connect());
        auto [near, outside] = net::make_memory_streams(executor_);
        carry({std::move(inside), std::move(outside), found.get()});
        co_return std::move(near);
    }

    enum class Seen {
        kByBoth,
        kByNode,    ///< the other side finds out by silence, or when the node connects again
        kByMaster,  ///< and the other way round
    };
    void cut(Seen seen = Seen::kByBoth) {
        fault_windows_.cut(clock_.now(),
                           seen == (of_ == Of::kNode ? Seen::kByMaster : Seen::kByNode));
        for (const auto& weak : lanes_) {
            const auto lane = weak.lock();
            if (!lane) continue;
            lane->dark = seen != Seen::kByBoth;
            if (seen != Seen::kByMaster) lane->inside->close();
            if (seen != Seen::kByNode) lane->outside->close();
        }
        lanes_.clear();
    }
    /// The node sees an end at once; what it has said before arrives so much later, when it may
    /// have connected again.
    void cut_late(Duration later) {
        fault_windows_.cut(clock_.now(), of_ == Of::kMaster);
        for (const auto& weak : lanes_) {
            const auto lane = weak.lock();
            if (!lane || lane->late) continue;
            lane->late = later;
            tasks_.spawn("late cut", end_for_node(lane));
        }
        lanes_.clear();
    }
    /// Only what leads to that one.
    void cut_to(const net::MemoryListener* listener) {
        fault_windows_.cut(clock_.now());
        std::erase_if(lanes_, [&](const auto& weak) {
            const auto lane = weak.lock();
            if (lane && lane->to == listener) lane->close();
            return !lane || lane->to == listener;
        });
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
        std::unique_ptr<net::ByteStream> inside;   ///< towards the node
        std::unique_ptr<net::ByteStream> outside;  ///< towards all others
        const net::MemoryListener* to;             ///< never followed: whoever listened may be gone
        bool dark = false;
        std::optional<Duration> late = {};

        void close() const {
            inside->close();
            outside->close();
        }
    };

    bool up_waits() const { return up_blocked || machine_cut_off_; }
    bool down_waits() const { return down_blocked || machine_cut_off_; }

    Task<void> opening() {
        co_await clock_.sleep_for(up_delay_ + down_delay_);
        while (up_waits() || down_waits()) co_await changed_.wait();
    }

    void carry(Lane made) {
        auto lane = std::make_shared<Lane>(std::move(made));
        std::erase_if(lanes_, [](const auto& weak) { return weak.expired(); });
        lanes_.push_back(lane);
        tasks_.spawn("up", carry_up(lane));
        tasks_.spawn("down", carry_down(lane));
    }

    Task<void> end_for_node(std::shared_ptr<Lane> lane) {
        // An error: its side has ended already.
        (void)co_await lane->inside->shut_down_write();
    }

    Task<void> carry_up(std::shared_ptr<Lane> lane) {
        std::array<char, 4096> bytes;
        for (;;) {
            const auto size = co_await lane->inside->read_some(asio::buffer(bytes));
            if (up_delay_ > Duration::zero()) co_await clock_.sleep_for(up_delay_);
            if (lane->late) co_await clock_.sleep_for(*lane->late);
            while (up_waits() || lane->dark) co_await changed_.wait();
            if (!size) break;
            if (*size == 0) {
                if (!co_await lane->outside->shut_down_write()) break;
                co_return;
            }
            if (!co_await lane->outside->write(asio::buffer(bytes.data(), *size))) break;
        }
        lane->close();
    }

    Task<void> carry_down(std::shared_ptr<Lane> lane) {
        std::array<char, 4096> bytes;
        for (;;) {
            const auto size = co_await lane->outside->read_some(asio::buffer(bytes));
            if (down_delay_ > Duration::zero()) co_await clock_.sleep_for(down_delay_);
            while (down_waits() || lane->dark) co_await changed_.wait();
            if (lane->late) co_return;
            if (!size) break;
            if (*size == 0) {
                if (!co_await lane->inside->shut_down_write()) break;
                co_return;
            }
            if (!co_await lane->inside->write(asio::buffer(bytes.data(), *size))) break;
        }
        lane->close();
    }

    asio::any_io_executor executor_;
    Clock& clock_;
    FaultWindows& fault_windows_;
    Of of_;
    Duration up_delay_ = {};
    Duration down_delay_ = {};
    bool machine_cut_off_ = false;
    std::list<std::weak_ptr<Lane>> lanes_;
    Signal changed_;
    TaskGroup tasks_;
};

}  // namespace muster::sim::elastic
