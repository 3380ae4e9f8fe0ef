#include "store/internal/change_window.h"

namespace muster::store {

void ChangeWindow::add(StoreHistory::Entry entry) {
    if (capacity_ == 0) {
        floor_ = entry.revision;
        return;
    }
    changes_.push_back(std::move(entry));
    if (changes_.size() > capacity_) {
        floor_ = changes_.front().revision;
        changes_.pop_front();
    }
}

}  // namespace muster::store
