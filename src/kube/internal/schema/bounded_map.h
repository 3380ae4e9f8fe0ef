#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "base/time/clock.h"
#include "kube/values/fingerprint.h"

namespace muster::kube {

/// A map from fingerprints that forgets entries that were unused for long: the least recently used
/// one beyond its capacity, and expired ones when a new entry needs a place. So it has as many
/// places as it had keys in use at the same time.
template <class T>
class BoundedMap {
  public:
    BoundedMap(std::size_t capacity, Duration memory) : capacity_(capacity), memory_(memory) {}

    /// The value of a key, default-constructed if it is new or was unused for longer than `memory`.
    /// Valid until the next call. Time must not go back.
    T& at(const Fingerprint& key, Instant now) {
        if (const auto it = places_.find(key); it != places_.end()) {
            if (it->second != newest_) {
                unlink(it->second);
                link(it->second);
            }
            Entry& found = entries_[newest_];
            if (now - found.used > memory_) found.value = T{};
            found.used = now;
            return found.value;
        }
        const std::uint32_t place = free_place(now);
        Entry& made = entries_[place];
        made.key = key;
        made.value = T{};
        made.used = now;
        places_.emplace(key, place);
        link(place);
        return made.value;
    }

    std::size_t size() const { return entries_.size(); }

  private:
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};
    struct Entry {
        Fingerprint key;
        T value;
        Instant used;
        std::uint32_t older = kNone;
        std::uint32_t newer = kNone;
    };

    /// A new place, or that of the least recently used entry.
    std::uint32_t free_place(Instant now) {
        const bool reuses = oldest_ != kNone && now - entries_[oldest_].used > memory_;
        if (!reuses && entries_.size() < capacity_) {
            entries_.emplace_back();
            return static_cast<std::uint32_t>(entries_.size() - 1);
        }
        const std::uint32_t place = oldest_;
        places_.erase(entries_[place].key);
        unlink(place);
        return place;
    }
    void unlink(std::uint32_t place) {
        const Entry& entry = entries_[place];
        (entry.older == kNone ? oldest_ : entries_[entry.older].newer) = entry.newer;
        (entry.newer == kNone ? newest_ : entries_[entry.newer].older) = entry.older;
    }
    void link(std::uint32_t place) {
        entries_[place].older = newest_;
        entries_[place].newer = kNone;
        (newest_ == kNone ? oldest_ : entries_[newest_].newer) = place;
        newest_ = place;
    }

    // Kept close together: each event of each object passes through here.
    std::size_t capacity_;
    Duration memory_;
    std::deque<Entry> entries_;  ///< a doubly linked list by age, stored in order of creation
    std::uint32_t oldest_ = kNone;
    std::uint32_t newest_ = kNone;
    boost::unordered_flat_map<Fingerprint, std::uint32_t, Fingerprint::Hash> places_;
};

}  // namespace muster::kube
