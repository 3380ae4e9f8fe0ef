#include "checkpoint/storage/in_parallel.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace muster::checkpoint {
namespace {

/// More of them than this gain nothing with any disk.
constexpr int kMostThreads = 64;

class Parts {
  public:
    explicit Parts(std::uint64_t count) : count_(count) {}

    void take(const PartWork& work) {
        while (!stopped_.load(std::memory_order_relaxed)) {
            const std::uint64_t part = next_.fetch_add(1, std::memory_order_relaxed);
            if (part >= count_) return;
            if (auto done = work(part); !done) fail(std::move(done.error()));
        }
    }

    /// When no thread takes any more.
    Result<void> result() const { return error_ ? Result<void>(*error_) : Result<void>(); }

  private:
    void fail(Error error) {
        const std::lock_guard lock(mutex_);
        if (!error_) error_ = std::move(error);
        stopped_.store(true, std::memory_order_relaxed);
    }

    std::uint64_t count_;
    std::atomic<std::uint64_t> next_ = 0;
    std::atomic<bool> stopped_ = false;
    std::mutex mutex_;
    std::optional<Error> error_;  ///< guarded by the mutex
};

}  // namespace

Result<void> in_parallel(int threads, std::uint64_t parts,
                         const std::function<PartWork()>& make_work) {
    Parts all(parts);
    const std::uint64_t wanted = std::min<std::uint64_t>(
        parts, static_cast<std::uint64_t>(std::clamp(threads, 1, kMostThreads)));
    {
        std::vector<std::jthread> others;
        for (std::uint64_t i = 1; i < wanted; ++i) {
            try {
                others.emplace_back([&all, work = make_work()] { all.take(work); });
            } catch (const std::system_error&) {
                break;
            }
        }
        all.take(make_work());
    }
    return all.result();
}

}  // namespace muster::checkpoint
