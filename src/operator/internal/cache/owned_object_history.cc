#include "operator/internal/cache/owned_object_history.h"

namespace muster::operators {

void OwnedObjectHistory::came(const OwnedObjectId& id) {
    if (former_.erase(id) > 0) told_.erase(id);
}

void OwnedObjectHistory::left(const OwnedObjectRecord& object) {
    if (our_own_.erase(object.uid) > 0) return;
    former_[object.id()] = {.in_a_row = object.in_a_row, .created = object.created, .ended_at = {}};
}

void OwnedObjectHistory::corrected(const OwnedObjectId& id, std::size_t content,
                                   std::int32_t in_a_row, WallTime now) {
    told_.erase(id);
    corrections_[id] = {.former = {.in_a_row = in_a_row, .created = now, .ended_at = {}},
                        .content = content};
}

void OwnedObjectHistory::end_pauses() {
    former_.clear();
    corrections_.clear();
    told_.clear();
}

}  // namespace muster::operators
