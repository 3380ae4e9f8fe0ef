#include "store/internal/change_window.h"

namespace muster::store {

namespace {
std::size_t bytes_of(const StoreHistory::Entry& entry) {
    return passed_bytes(entry.before.get(), *entry.object, entry.deleted);
}
}  // namespace

std::size_t passed_bytes(const ObjectText* before, const ObjectText& object, bool deleted) {
    return (before == nullptr ? 0 : before->text().size()) + (deleted ? object.text().size() : 0);
}

void ChangeWindow::add(StoreHistory::Entry entry) {
    bytes_ += bytes_of(entry);
    changes_.push_back(std::move(entry));
    while (changes_.size() > limit_.changes || bytes_ > limit_.bytes) {
        floor_ = changes_.front().revision;
        bytes_ -= bytes_of(changes_.front());
        changes_.pop_front();
    }
}

}  // namespace muster::store
