#include "operator/internal/cache/table.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster::operators {
namespace {

std::string key_of(const DependentRecord& object) {
    return queue_key(object.owner.kind->resource.kind, object.namespace_, object.owner.name);
}

std::vector<PodPtr>& list_for(Orphans& orphans, const PodPtr&) { return orphans.pods; }
std::vector<ServicePtr>& list_for(Orphans& orphans, const ServicePtr&) { return orphans.services; }

}  // namespace

std::string queue_key(std::string_view kind, std::string_view namespace_, std::string_view name) {
    return fmt::format("{}/{}/{}", kind, namespace_, name);
}

template <class Ptr>
void Table::apply_any(const Ptr* before, const Ptr* after) {
    if (before && after && !(*before)->is_orphan() && (*before)->owner.uid == (*after)->owner.uid)
        return by_owner_[(*after)->owner.uid].apply(before, after);
    if (before) remove(*before);
    if (after) add(*after);
}
template void Table::apply_any(const PodPtr* before, const PodPtr* after);
template void Table::apply_any(const ServicePtr* before, const ServicePtr* after);

template <class Ptr>
void Table::remove(const Ptr& object) {
    if (object->is_orphan()) {
        auto orphans = orphans_.find(key_of(*object));
        if (orphans == orphans_.end()) return;
        std::erase_if(list_for(orphans->second, object),
                      [&](const Ptr& known) { return known->uid == object->uid; });
        if (orphans->second.empty()) orphans_.erase(orphans);
        return;
    }
    auto owner = by_owner_.find(object->owner.uid);
    if (owner == by_owner_.end()) return;
    owner->second.apply(&object, static_cast<const Ptr*>(nullptr));
    if (!owner->second.has_objects() && !owner->second.is_configured()) by_owner_.erase(owner);
}

template <class Ptr>
void Table::add(const Ptr& object) {
    if (object->is_orphan()) {
        std::vector<Ptr>& list = list_for(orphans_[key_of(*object)], object);
        const auto uid = [](const Ptr& known) { return known->uid; };
        list.insert(std::ranges::upper_bound(list, object->uid, {}, uid), object);
        return;
    }
    by_owner_[object->owner.uid].apply(static_cast<const Ptr*>(nullptr), &object);
}

const Dependents* Table::find(const JobUid& job_uid) const {
    auto owner = by_owner_.find(job_uid);
    return owner == by_owner_.end() ? nullptr : &owner->second;
}

void Table::apply(const OwnedObjectPtr& before, const OwnedObjectPtr& after) {
    const auto is_of = [](const OwnedObjectPtr& object, const JobUid& job) {
        return object != nullptr && object->owner_uid == job;
    };
    for (const OwnedObjectPtr& object : {before, after}) {
        if (object == nullptr) continue;
        const JobUid& job = object->owner_uid;
        owned_object_changed(job);
        const auto owner = by_owner_.find(job);
        if (owner == by_owner_.end()) continue;
        if (!is_of(after, job))
            owner->second.owned_history().left(*object);
        else if (OwnedObjectHistory* history = owner->second.known_owned_history())
            history->came(after->id());
    }
}

void Table::owned_object_changed(const JobUid& job_uid) {
    // A change of an object that outlives its job does not matter.
    if (auto owner = by_owner_.find(job_uid); owner != by_owner_.end())
        owner->second.owned_objects_changed();
}

void Table::forget(const JobUid& job_uid) {
    auto owner = by_owner_.find(job_uid);
    if (owner == by_owner_.end()) return;
    owner->second.forget_job();
    if (!owner->second.has_objects()) by_owner_.erase(owner);
}

const Orphans& Table::orphans_of(const std::string& key) const {
    static const Orphans kNone;
    auto orphans = orphans_.find(key);
    return orphans == orphans_.end() ? kNone : orphans->second;
}

}  // namespace muster::operators
