#pragma once

#include <deque>

#include "store/store.h"

namespace muster::store {

/// The newest changes of a store, up to a limit.
class ChangeWindow {
  public:
    explicit ChangeWindow(HistoryLimit limit, Revision floor = 0) : limit_(limit), floor_(floor) {}

    /// Changes come in revision order, each with the next revision.
    void add(StoreHistory::Entry entry);
    StoreHistory history() const { return {floor_, {changes_.begin(), changes_.end()}}; }

  private:
    HistoryLimit limit_;
    Revision floor_;
    std::size_t bytes_ = 0;  ///< passed_bytes() of all
    std::deque<StoreHistory::Entry> changes_;
};

}  // namespace muster::store
