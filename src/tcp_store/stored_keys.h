#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace muster::tcp_store {

/// What torch's TCPStore keeps, and who waits for it: keys, queues and barriers. As its server does
/// (pytorch, torch/csrc/distributed/c10d/TCPStoreLibUvBackend.cpp) but where that loses wake-ups: a
/// waiter is released exactly once, and who waits for a queue is let go when something is in it.
///
/// Pure. A waiter is a number that the caller gives; it has one wait at a time. After each call
/// take_released() has those whose waits are over.
class StoreKeys {
  public:
    using Waiter = std::uint64_t;

    void set(const std::string& key, std::string value);
    void append(const std::string& key, const std::string& value);
    /// What the key has then. One that is missing is set where nothing is expected; otherwise it is
    /// as if it had what is expected, which torch's clients know.
    std::string compare_set(const std::string& key, const std::string& expected,
                            const std::string& desired);
    /// Empty where it is missing: clients wait for a key before they get it.
    const std::string& get(const std::string& key) const;
    /// Values are kept as decimal text, a missing one is 0. kInvalid: what the key has is no
    /// number, or the sum does not fit.
    Result<std::int64_t> add(const std::string& key, std::int64_t amount);
    /// A queue with something in it counts as a key that is there.
    bool has_all(const std::vector<std::string>& keys) const;
    /// True when there was one.
    bool erase(const std::string& key) { return keys_.erase(key) > 0; }
    std::size_t size() const { return keys_.size(); }
    /// In no order.
    std::vector<std::string> list() const;

    void push(const std::string& queue, std::string value);
    /// The oldest, if there is one.
    std::optional<std::string> pop(const std::string& queue);
    std::size_t length(const std::string& queue) const;

    /// Until all of the keys are there; may be over at once.
    void wait(Waiter waiter, std::vector<std::string> keys);
    /// Until `members` wait at that barrier.
    void arrive(Waiter waiter, const std::string& barrier, std::int64_t members);
    /// It waits no more. False: it did not wait.
    bool cancel(Waiter waiter);
    std::vector<Waiter> take_released() { return std::exchange(released_, {}); }

    /// Nothing is there any more, and nobody waits.
    void clear();

  private:
    struct Wait {
        std::vector<std::string> keys;
        std::string barrier;  ///< when there are no keys
        bool at_barrier = false;
    };

    void look_at(const std::string& key, std::size_t most);
    void leave(Waiter waiter, const Wait& wait);

    std::unordered_map<std::string, std::string> keys_;
    std::unordered_map<std::string, std::deque<std::string>> queues_;
    std::unordered_map<Waiter, Wait> waits_;
    std::unordered_map<std::string, std::vector<Waiter>> waiting_;  ///< by key that is missing
    std::unordered_map<std::string, std::vector<Waiter>> barriers_;
    std::vector<Waiter> released_;
};

}  // namespace muster::tcp_store
