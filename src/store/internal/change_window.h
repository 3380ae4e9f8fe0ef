#pragma once

#include <deque>

#include "store/store.h"

namespace muster::store {

/// The newest changes of a store, up to a limit.
class ChangeWindow {
  public:
    explicit ChangeWindow(std::size_t capacity, Revision floor = 0)
        : capacity_(capacity), floor_(floor) {}

    /// Changes come in revision order, each with the next revision.
    void add(StoreHistory::Entry entry);
    StoreHistory history() const { return {floor_, {changes_.begin(), changes_.end()}}; }

  private:
    std::size_t capacity_;
    Revision floor_;
    std::deque<StoreHistory::Entry> changes_;
};

}  // namespace muster::store
