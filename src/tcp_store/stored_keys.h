#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"

namespace muster::tcp_store {

/// The data of torch's TCPStore and its waiting clients: keys, queues and barriers. Behaves like
/// torch's server (pytorch, torch/csrc/distributed/c10d/TCPStoreLibUvBackend.cpp), except where
/// that loses wake-ups: here each waiter is released exactly once, and a client that waits for a
/// queue is released when it has an element.
///
/// Pure. A waiter is a number chosen by the caller; it has at most one wait at a time. After each
/// call take_released() returns the waiters whose waits are over.
class StoreKeys {
  public:
    using Waiter = std::uint64_t;

    void set(const std::string& key, std::string value);
    void append(const std::string& key, const std::string& value);
    /// Returns the key's value afterwards. A missing key is set if `expected` is empty; otherwise
    /// `expected` is returned, as torch's clients know.
    std::string compare_set(const std::string& key, const std::string& expected,
                            const std::string& desired);
    /// Empty if the key is missing: clients wait for a key before they get it.
    const std::string& get(const std::string& key) const;
    /// Values are kept as decimal text; a missing one counts as 0. kInvalid: the value is not a
    /// number, or the sum does not fit.
    Result<std::int64_t> add(const std::string& key, std::int64_t amount);
    /// A queue with an element counts as an existing key.
    bool has_all(const std::vector<std::string>& keys) const;
    /// True if the key existed.
    bool erase(const std::string& key);
    std::size_t size() const { return keys_.size(); }
    /// Keys and elements of queues.
    std::size_t entries() const { return keys_.size() + elements_; }
    /// What all of it takes, waits included: names, values, and kEntryBytes for each.
    std::size_t bytes() const { return bytes_; }
    static constexpr std::size_t kEntryBytes = 64;
    /// In no particular order.
    std::vector<std::string> list() const;

    void push(const std::string& queue, std::string value);
    /// The oldest element, if there is one.
    std::optional<std::string> pop(const std::string& queue);
    std::size_t length(const std::string& queue) const;

    /// Waits until all of the keys exist; may be over at once.
    void wait(Waiter waiter, std::vector<std::string> keys);
    /// Waits until `members` clients wait at that barrier.
    void arrive(Waiter waiter, const std::string& barrier, std::int64_t members);
    /// Cancels the wait. False if there was none.
    bool cancel(Waiter waiter);
    std::vector<Waiter> take_released() { return std::exchange(released_, {}); }

    /// Deletes everything, including waits.
    void clear();

  private:
    struct Wait {
        std::vector<std::string> keys;  ///< each once
        std::string barrier;            ///< used if there are no keys
        bool at_barrier = false;
        std::uint64_t order = 0;  ///< who waits longer is released first
        std::size_t missing = 0;  ///< of the keys
    };
    using Waiters = std::set<std::pair<std::uint64_t, Waiter>>;  ///< in their order

    bool exists(const std::string& key) const;
    std::string& stored(const std::string& key);
    void note_arrival(const std::string& key);
    void note_removal(const std::string& key);
    void look_at(const std::string& key, std::size_t most);
    static std::size_t bytes_of(const Wait& wait);
    void leave(Waiter waiter, const Wait& wait);

    std::unordered_map<std::string, std::string> keys_;
    std::unordered_map<std::string, std::deque<std::string>> queues_;
    std::unordered_map<Waiter, Wait> waits_;
    std::unordered_map<std::string, Waiters> waiting_;  ///< by each key that they wait for
    std::unordered_map<std::string, Waiters> barriers_;
    std::vector<Waiter> released_;
    std::uint64_t last_order_ = 0;
    std::size_t elements_ = 0;
    std::size_t bytes_ = 0;
};

}  // namespace muster::tcp_store
