#pragma once

#include <cstddef>
#include <list>
#include <unordered_map>
#include <utility>

#include "kube/internal/fingerprint.h"

namespace muster::kube {

/// A map from fingerprints that forgets what was longest unused beyond its capacity.
template <class T>
class BoundedMap {
  public:
    explicit BoundedMap(std::size_t capacity) : capacity_(capacity) {}

    /// The value of a key, made by default if it is new. Holds until the next call.
    T& operator[](const Fingerprint& key) {
        if (auto it = places_.find(key); it != places_.end()) {
            order_.splice(order_.begin(), order_, it->second);
            return it->second->second;
        }
        order_.emplace_front(key, T{});
        places_.emplace(key, order_.begin());
        if (order_.size() > capacity_) {
            places_.erase(order_.back().first);
            order_.pop_back();
        }
        return order_.front().second;
    }

    std::size_t size() const { return order_.size(); }

  private:
    using Order = std::list<std::pair<Fingerprint, T>>;

    std::size_t capacity_;
    Order order_;  ///< most recently used first
    std::unordered_map<Fingerprint, typename Order::iterator, Fingerprint::Hash> places_;
};

}  // namespace muster::kube
