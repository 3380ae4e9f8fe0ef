#include "tcp_store/stored_keys.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/parse_number.h"

namespace muster::tcp_store {

bool StoreKeys::exists(const std::string& key) const {
    return keys_.contains(key) || length(key) > 0;
}

/// The value of a key, which exists from now on.
std::string& StoreKeys::stored(const std::string& key) {
    const auto [at, is_new] = keys_.try_emplace(key);
    if (is_new) {
        bytes_ += key.size() + kEntryBytes;
        if (length(key) == 0) note_arrival(key);
    }
    return at->second;
}

// Waits count what they miss: to look for each key again would cost their number at every change.

void StoreKeys::note_arrival(const std::string& key) {
    const auto place = waiting_.find(key);
    if (place == waiting_.end()) return;
    for (const auto& [order, waiter] : place->second) --waits_.at(waiter).missing;
}

void StoreKeys::note_removal(const std::string& key) {
    const auto place = waiting_.find(key);
    if (place == waiting_.end()) return;
    for (const auto& [order, waiter] : place->second) ++waits_.at(waiter).missing;
}

bool StoreKeys::erase(const std::string& key) {
    const auto found = keys_.find(key);
    if (found == keys_.end()) return false;
    bytes_ -= key.size() + found->second.size() + kEntryBytes;
    keys_.erase(found);
    if (length(key) == 0) note_removal(key);
    return true;
}

void StoreKeys::set(const std::string& key, std::string value) {
    std::string& into = stored(key);
    bytes_ += value.size() - into.size();
    into = std::move(value);
    look_at(key, std::numeric_limits<std::size_t>::max());
}

void StoreKeys::append(const std::string& key, const std::string& value) {
    stored(key) += value;
    bytes_ += value.size();
    look_at(key, std::numeric_limits<std::size_t>::max());
}

std::string StoreKeys::compare_set(const std::string& key, const std::string& expected,
                                   const std::string& desired) {
    const auto found = keys_.find(key);
    if (found == keys_.end()) {
        if (!expected.empty()) return expected;
        set(key, desired);
        return desired;
    }
    if (found->second == expected) {
        bytes_ += desired.size() - found->second.size();
        found->second = desired;
    }
    return found->second;
}

const std::string& StoreKeys::get(const std::string& key) const {
    static const std::string kMissing;
    const auto found = keys_.find(key);
    return found == keys_.end() ? kMissing : found->second;
}

Result<std::int64_t> StoreKeys::add(const std::string& key, std::int64_t amount) {
    std::int64_t sum = 0;
    if (const auto found = keys_.find(key); found != keys_.end()) {
        const std::optional<std::int64_t> number = parse_number<std::int64_t>(found->second);
        if (!number)
            return Error(Code::kInvalid,
                         "something is added to " + key + ", which is not a number");
        sum = *number;
    }
    if (__builtin_add_overflow(sum, amount, &sum))
        return Error(Code::kInvalid, "a sum that does not fit, of " + key);
    set(key, std::to_string(sum));
    return sum;
}

bool StoreKeys::has_all(const std::vector<std::string>& keys) const {
    return std::ranges::all_of(keys, [this](const std::string& key) { return exists(key); });
}

std::vector<std::string> StoreKeys::list() const {
    std::vector<std::string> names;
    names.reserve(keys_.size());
    for (const auto& [name, value] : keys_) names.push_back(name);
    return names;
}

void StoreKeys::push(const std::string& queue, std::string value) {
    const bool existed = exists(queue);
    ++elements_;
    bytes_ += queue.size() + value.size() + kEntryBytes;
    queues_[queue].push_back(std::move(value));
    if (!existed) note_arrival(queue);
    // One element serves one waiter: the others would find nothing.
    look_at(queue, 1);
}

std::optional<std::string> StoreKeys::pop(const std::string& queue) {
    const auto found = queues_.find(queue);
    if (found == queues_.end()) return std::nullopt;
    std::string value = std::move(found->second.front());
    found->second.pop_front();
    --elements_;
    bytes_ -= queue.size() + value.size() + kEntryBytes;
    if (found->second.empty()) {
        queues_.erase(found);
        if (!keys_.contains(queue)) note_removal(queue);
    }
    return value;
}

std::size_t StoreKeys::length(const std::string& queue) const {
    const auto found = queues_.find(queue);
    return found == queues_.end() ? 0 : found->second.size();
}

// ---- waiters

void StoreKeys::wait(Waiter waiter, std::vector<std::string> keys) {
    cancel(waiter);
    if (has_all(keys)) {
        released_.push_back(waiter);
        return;
    }
    std::ranges::sort(keys);
    keys.erase(std::ranges::unique(keys).begin(), keys.end());
    Wait wait{.keys = std::move(keys), .barrier = {}, .order = ++last_order_};
    for (const std::string& key : wait.keys) {
        waiting_[key].emplace(wait.order, waiter);
        if (!exists(key)) ++wait.missing;
    }
    bytes_ += bytes_of(wait);
    waits_.emplace(waiter, std::move(wait));
}

void StoreKeys::arrive(Waiter waiter, const std::string& barrier, std::int64_t members) {
    cancel(waiter);
    Waiters& there = barriers_[barrier];
    const Wait wait{.keys = {}, .barrier = barrier, .at_barrier = true, .order = ++last_order_};
    there.emplace(wait.order, waiter);
    bytes_ += bytes_of(wait);
    waits_.emplace(waiter, wait);
    if (static_cast<std::int64_t>(there.size()) < members) return;
    const Waiters all = std::move(there);
    barriers_.erase(wait.barrier);
    for (const auto& [order, one] : all) {
        waits_.erase(one);
        released_.push_back(one);
    }
    bytes_ -= all.size() * bytes_of(wait);
}

bool StoreKeys::cancel(Waiter waiter) {
    const auto found = waits_.find(waiter);
    if (found == waits_.end()) return false;
    leave(waiter, found->second);
    waits_.erase(found);
    return true;
}

std::size_t StoreKeys::bytes_of(const Wait& wait) {
    std::size_t bytes = wait.barrier.size() + kEntryBytes;
    for (const std::string& key : wait.keys) bytes += key.size() + kEntryBytes;
    return bytes;
}

void StoreKeys::leave(Waiter waiter, const Wait& wait) {
    bytes_ -= bytes_of(wait);
    const auto out_of = [&](auto& places, const std::string& name) {
        const auto place = places.find(name);
        if (place == places.end()) return;
        place->second.erase({wait.order, waiter});
        if (place->second.empty()) places.erase(place);
    };
    if (wait.at_barrier) return out_of(barriers_, wait.barrier);
    for (const std::string& key : wait.keys) out_of(waiting_, key);
}

/// The key exists now: releases at most `most` of the waiters for which it was the last missing
/// one.
void StoreKeys::look_at(const std::string& key, std::size_t most) {
    const auto place = waiting_.find(key);
    if (place == waiting_.end()) return;
    std::vector<Waiter> over;  // first all of them: a released waiter changes the list
    for (const auto& [order, waiter] : place->second) {
        if (over.size() == most) break;
        if (waits_.at(waiter).missing == 0) over.push_back(waiter);
    }
    for (const Waiter waiter : over) {
        const auto found = waits_.find(waiter);
        leave(waiter, found->second);
        waits_.erase(found);
        released_.push_back(waiter);
    }
}

void StoreKeys::clear() {
    keys_.clear();
    queues_.clear();
    waits_.clear();
    waiting_.clear();
    barriers_.clear();
    released_.clear();
    elements_ = 0;
    bytes_ = 0;
}

}  // namespace muster::tcp_store
