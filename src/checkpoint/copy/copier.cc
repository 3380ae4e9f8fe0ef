#include "checkpoint/copy/copier.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "base/check.h"
#include "checkpoint/copy/streaming.h"

namespace muster::checkpoint {
namespace {

/// What a thread takes at once: enough that taking it costs nothing, and little enough that all threads
/// end at almost the same time.
constexpr std::size_t kShare = std::size_t{4} * 1024 * 1024;

}  // namespace

class Copier::Pool {
  public:
    explicit Pool(int threads) {
        CHECK(threads >= 1 && threads <= kMostCopyThreads, "as many as the interface says");
        for (int i = 1; i < threads; ++i) threads_.emplace_back([this] { serve(); });
    }
    ~Pool() {
        {
            const std::lock_guard lock(mutex_);
            ends_ = true;
        }
        begins_.notify_all();
        for (std::thread& thread : threads_) thread.join();
    }

    void copy(std::span<const Copying> parts) {
        divide(parts);
        next_.store(0, std::memory_order_relaxed);
        const bool shared = share_ends_.size() > 1 && !threads_.empty();
        if (shared) {
            {
                const std::lock_guard lock(mutex_);
                ++round_;
                busy_ = threads_.size();
            }
            begins_.notify_all();
        }
        take_shares();
        if (!shared) return;
        std::unique_lock lock(mutex_);
        all_done_.wait(lock, [this] { return busy_ == 0; });
    }

  private:
    /// Into pieces of which none is larger than a share, and shares of pieces that follow each other.
    void divide(std::span<const Copying> parts) {
        pieces_.clear();
        share_ends_.clear();
        std::size_t bytes = 0;
        for (Copying rest : parts) {
            while (rest.bytes > 0) {
                const std::size_t piece = std::min(rest.bytes, kShare - bytes);
                pieces_.push_back({rest.to, rest.from, piece});
                rest = {rest.to + piece, rest.from + piece, rest.bytes - piece};
                bytes += piece;
                if (bytes < kShare) continue;
                share_ends_.push_back(pieces_.size());
                bytes = 0;
            }
        }
        if (bytes > 0) share_ends_.push_back(pieces_.size());
    }

    void take_shares() {
        for (;;) {
            const std::size_t share = next_.fetch_add(1, std::memory_order_relaxed);
            if (share >= share_ends_.size()) break;
            for (std::size_t i = share == 0 ? 0 : share_ends_[share - 1]; i < share_ends_[share];
                 ++i)
                stream(pieces_[i].to, pieces_[i].from, pieces_[i].bytes);
        }
        end_streams();
    }

    void serve() {
        std::uint64_t seen = 0;
        std::unique_lock lock(mutex_);
        for (;;) {
            begins_.wait(lock, [&] { return ends_ || round_ != seen; });
            if (ends_) return;
            seen = round_;
            lock.unlock();
            take_shares();
            lock.lock();
            if (--busy_ == 0) all_done_.notify_one();
        }
    }

    std::vector<Copying> pieces_;
    std::vector<std::size_t> share_ends_;  ///< of each, the piece behind its last one
    std::atomic<std::size_t> next_ = 0;    ///< the share that is taken next
    std::mutex mutex_;
    std::condition_variable begins_;
    std::condition_variable all_done_;
    std::uint64_t round_ = 0;  ///< guarded by mutex_, as are the next two
    std::size_t busy_ = 0;     ///< threads that have not ended this round
    bool ends_ = false;
    std::vector<std::thread> threads_;
};

Copier::Copier(int threads) : pool_(std::make_unique<Pool>(threads)) {}
Copier::~Copier() = default;

void Copier::copy(std::span<const Copying> parts) { pool_->copy(parts); }

}  // namespace muster::checkpoint
