#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/async/async.h"
#include "base/async/signal.h"
#include "base/result.h"
#include "master/kv/kv_store.h"

namespace muster::master {

/// Calls to a KvStore, which wait until it has their answers. Outlives them. Thread: the loop.
class KvCalls {
  public:
    KvCalls(asio::any_io_executor executor, std::uint64_t epoch, KvLimits limits)
        : executor_(std::move(executor)), keys_(epoch, limits) {}

    /// As KvStore::ask(). A call that is cancelled leaves nothing behind.
    Task<Result<KvAnswer>> ask(std::optional<int> rank, KvRequest request);

    /// For what changes by itself; hand_out() after it.
    KvStore& keys() { return keys_; }
    const KvStore& keys() const { return keys_; }
    /// Wakes the calls that have their answers now.
    void hand_out();

  private:
    /// A call without an answer so far.
    struct Line {
        explicit Line(const asio::any_io_executor& executor) : changed(executor) {}
        Signal changed;
        std::optional<Result<KvAnswer>> answer;
    };

    asio::any_io_executor executor_;
    KvStore keys_;
    KvStore::Waiter last_ = 0;
    std::unordered_map<KvStore::Waiter, Line*> lines_;
};

}  // namespace muster::master
