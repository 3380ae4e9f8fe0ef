#include "store/internal/change_window.h"

namespace muster::store {

std::size_t passed_bytes(const StoreHistory::Entry& entry) {
    const std::size_t before = entry.before == nullptr ? 0 : entry.before->text().size();
    return before + (entry.deleted ? entry.object->text().size() : 0);
}

void ChangeWindow::add(StoreHistory::Entry entry) {
    bytes_ += passed_bytes(entry);
    changes_.push_back(std::move(entry));
    while (changes_.size() > limit_.changes || bytes_ > limit_.bytes) {
        floor_ = changes_.front().revision;
        bytes_ -= passed_bytes(changes_.front());
        changes_.pop_front();
    }
}

}  // namespace muster::store
