#include "operator/internal/cache/dependents.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "kube/values/time.h"
#include "operator/internal/cache/legacy.h"
#include "operator/internal/cache/seen_pods.h"
#include "operator/internal/restart_policy/restart_policy.h"

namespace muster::operators {
namespace {

/// A pod's newest state, but with restarts in place that were seen before: an evicted pod arrives
/// without its containers' statuses.
PodPtr latest(const PodPtr& known, const PodPtr& shown) {
    if (shown->node_restarts >= known->node_restarts) return shown;
    auto made = std::make_shared<PodRecord>(*shown);
    made->node_restarts = known->node_restarts;
    return made;
}

bool equal_members(const JobMembersPtr& a, const JobMembersPtr& b) {
    return a && b ? *a == *b : a == b;
}

}  // namespace

/// Takes a slot out of the totals, and adds it again in its later state.
class Dependents::Recount {
  public:
    Recount(Dependents& all, SlotId id) : all_(all), id_(id), slot_(all.slot(id)) {
        all_.count(all_.types_[id_.type].totals, id_, slot_, -1);
    }
    ~Recount() { all_.count(all_.types_[id_.type].totals, id_, slot_, +1); }
    Recount(const Recount&) = delete;
    Recount& operator=(const Recount&) = delete;

    Slot& slot() { return slot_; }

  private:
    Dependents& all_;
    SlotId id_;
    Slot& slot_;
};

Slot& Dependents::slot(SlotId id) {
    for (std::size_t type = types_.size(); type <= id.type; ++type)
        types_.emplace_back().totals.restarts =
            rules_.former_restarts(static_cast<std::uint8_t>(type));
    std::vector<Slot>& slots = types_[id.type].slots;
    const auto index = static_cast<std::size_t>(id.index);
    // Only unwanted slots are added here, and an empty one of those counts for nothing.
    if (slots.size() <= index) slots.resize(index + 1);
    return slots[index];
}

// --- the job's status

void Dependents::configure(const FactsPtr& facts, const jobs::JobStatus& status) {
    CountingRules next{.facts = facts,
                       .members = members_of(*facts, status),
                       .generation = status.restart_generation.value_or(0),
                       .group_in_a_row = status.restarts_in_a_row.value_or(0),
                       .paused = facts->suspend || status.is("Suspended")};
    const bool same_members = equal_members(next.members, rules_.members);
    const bool all_else_same = rules_.facts == facts && rules_.generation == next.generation &&
                               rules_.group_in_a_row == next.group_in_a_row &&
                               rules_.paused == next.paused;
    if (all_else_same && same_members) return;
    if (all_else_same && next.members && rules_.members)
        return change_members(std::move(next.members), status);
    if (rules_.facts != facts || !same_members) owned_objects_changed();
    change_rules(std::move(next), status);
}

void Dependents::change_rules(CountingRules next, const jobs::JobStatus& status) {
    const bool afresh = rules_.generation != next.generation || rules_.paused != next.paused;
    const std::vector<std::int32_t> known = known_restarts(*next.facts, status);
    const bool first_look = !rules_.facts;
    const bool paused = next.paused;
    std::vector<Legacy> left;
    if (!first_look && next.members && rules_.members)
        left = legacies(rules_, expectations_.get(), types_, *next.members);
    const CountingRules former_rules = std::exchange(rules_, std::move(next));
    const bool turned = !first_look && former_rules.paused != paused &&
                        former_rules.generation == rules_.generation;
    for (const TypeFacts& type : rules_.facts->types)
        if (const std::int32_t slots = rules_.slots_of(type); slots > 0)
            slot({type.type, slots - 1});
    if (afresh && owned_history_) owned_history_->end_pauses();
    for (std::size_t type = 0; type < types_.size(); ++type) {
        for (std::size_t i = 0; i < types_[type].slots.size(); ++i) {
            Slot& slot = types_[type].slots[i];
            const SlotId id{static_cast<std::uint8_t>(type), static_cast<std::int32_t>(i)};
            if (afresh) {
                slot.done = slot.lapsed = false;
                slot.former.reset();
                slot.former_service.reset();
            }
            write_off(id, slot);
            if (!first_look && !former_rules.wants(id)) forget_restarts(id, slot);
            if (turned && former_rules.wants(id)) keep_restarts(former_rules, id, slot);
        }
    }
    for (const Legacy& legacy : left) hand_over(legacy);
    sum_up();
    if (first_look && rules_.members) note_predecessors();
    // A suspended job does not restart, and waits for nothing when it is resumed.
    if (first_look && !paused) note_former_pods(known, status);
    settle_restarts(known);
}

/// The counts in the status apply where we have not counted ourselves. Otherwise what another
/// operator writes there would be carried over, and counted again when our watch shows it.
std::vector<std::int32_t> Dependents::known_restarts(const JobFacts& facts,
                                                     const jobs::JobStatus& status) const {
    std::vector<std::int32_t> known(facts.kind->replica_types.size());
    for (std::size_t type = 0; rules_.facts && type < types_.size(); ++type)
        known[type] = types_[type].totals.restarts;
    for (const TypeFacts& type : facts.types) {
        const TypeFacts* before = rules_.facts ? rules_.facts->find(type.type) : nullptr;
        const auto recorded = status.replica_statuses.find(facts.name_of(type.type));
        if ((before == nullptr || rules_.wanted_slots(*before) == 0) &&
            recorded != status.replica_statuses.end())
            known[type.type] = recorded->second.restarts.value_or(0);
    }
    return known;
}

// --- members, of kinds whose ids rise

/// Takes only the slots of replicas that come or go out of the totals, and adds them again.
void Dependents::change_members(JobMembersPtr members, const jobs::JobStatus& status) {
    const std::vector<std::int32_t> known = known_restarts(*rules_.facts, status);
    const std::vector<Legacy> left = legacies(rules_, expectations_.get(), types_, *members);
    const std::vector<SlotId> changed = changed_slots(*rules_.members, *members);
    for (const SlotId id : changed) {
        const Slot& changing = slot(id);
        count(types_[id.type].totals, id, changing, -1);
    }
    const CountingRules former_rules = rules_;
    rules_.members = std::move(members);
    for (const SlotId id : changed) {
        write_off(id, slot(id));
        if (!former_rules.wants(id)) forget_restarts(id, slot(id));
    }
    for (std::uint8_t type = 0; type < types_.size(); ++type)
        types_[type].totals.restarts +=
            rules_.former_restarts(type) - former_rules.former_restarts(type);
    // Heirs that were there before are in the totals.
    for (const Legacy& legacy : left) {
        const bool counted = !std::ranges::binary_search(changed, legacy.to);
        if (counted) count(types_[legacy.to.type].totals, legacy.to, slot(legacy.to), -1);
        hand_over(legacy);
        if (counted) count(types_[legacy.to.type].totals, legacy.to, slot(legacy.to), +1);
    }
    for (const SlotId id : changed) count(types_[id.type].totals, id, slot(id), +1);
    owned_objects_changed();
    settle_restarts(known);
}

/// An operator before us may have died between two writes: a replica that follows another one has
/// no pod yet that would tell what its rank has had. One that was seen to go has told it.
void Dependents::note_predecessors() {
    for (std::size_t type = 0; type < rules_.members->size(); ++type)
        for (const auto& [id, restarts] : (*rules_.members)[type].restarts())
            if (const SlotId at{static_cast<std::uint8_t>(type), id}; !slot(at).pod) {
                Recount recount(*this, at);
                recount.slot().carried = std::max(recount.slot().carried, restarts);
            }
    for (const Legacy& legacy : legacies_of_the_gone(rules_, types_)) {
        Recount recount(*this, legacy.to);
        hand_over(legacy);
    }
}

void Dependents::hand_over(const Legacy& legacy) {
    Slot& heir = slot(legacy.to);
    heir.carried += legacy.restarts;
    if (!heir.pod && legacy.former) heir.former = std::make_unique<FormerObject>(*legacy.former);
}

/// A replica without a pod may have had one that an operator before us saw: the status tells of
/// restarts that no pod accounts for, and since when the job restarts. How many pods went in a row
/// is not known, but that they were not more than these restarts.
void Dependents::note_former_pods(const std::vector<std::int32_t>& known,
                                  const jobs::JobStatus& status) {
    const auto restarting =
        std::ranges::find(status.conditions, "Restarting", &jobs::JobCondition::type);
    if (restarting == status.conditions.end() || restarting->status != "True") return;
    const std::optional<WallTime> since = kube::parse_time(restarting->last_transition_time);
    if (!since) return;
    for (const TypeFacts& type : rules_.facts->types) {
        if (rules_.wanted_slots(type) == 0) continue;
        const IndexSet vacant = types_[type.type].totals.vacant;
        const std::int32_t missing = known[type.type] - types_[type.type].totals.restarts;
        if (missing <= 0 || vacant.size() == 0) continue;
        const std::int32_t each = (missing + vacant.size() - 1) / vacant.size();
        for (auto i = vacant.next(0); i >= 0; i = vacant.next(i + 1)) {
            Recount recount(*this, {type.type, i});
            if (recount.slot().former) continue;
            recount.slot().former = std::make_unique<FormerObject>(FormerObject{
                .in_a_row = each - 1, .created = *since, .ended_at = since, .id_unused = true});
        }
    }
}

/// Restarts of an unwanted replica are carried by those that stay.
void Dependents::write_off(SlotId id, Slot& slot) const {
    if (!rules_.facts || rules_.wants(id)) return;
    slot.carried = 0;
    slot.lapsed = false;
    slot.former.reset();
    slot.former_service.reset();
}

/// They must not count again if the replica is wanted again while its pod is still there, whatever
/// has happened to that meanwhile.
void Dependents::forget_restarts(SlotId id, Slot& slot) const {
    if (!rules_.wants(id)) return;
    slot.carried = 0;
    ReplicaTotals own;
    count(own, id, slot, +1);
    slot.carried = -own.restarts;
}

/// A job was suspended or resumed while pods of it that have ended are still there. How they ended was
/// counted before, or is no restart: either way it costs what it has cost.
void Dependents::keep_restarts(const CountingRules& before, SlotId id, Slot& slot) const {
    ReplicaTotals then;
    add_to(then, before, expectations_.get(), id, slot, +1);
    ReplicaTotals own;
    count(own, id, slot, +1);
    slot.carried += then.restarts - own.restarts;
}

std::int32_t Dependents::restarts_of(SlotId id) const {
    ReplicaTotals own;
    if (const Slot* slot = at(id)) count(own, id, *slot, +1);
    return own.restarts;
}

void Dependents::sum_up() {
    std::vector<ReplicaTotals> anew = recomputed_totals();
    for (std::size_t type = 0; type < types_.size(); ++type)
        types_[type].totals = std::move(anew[type]);
}

std::vector<ReplicaTotals> Dependents::recomputed_totals() const {
    std::vector<ReplicaTotals> all(types_.size());
    for (std::size_t type = 0; type < types_.size(); ++type) {
        all[type].restarts = rules_.former_restarts(static_cast<std::uint8_t>(type));
        for (std::size_t i = 0; i < types_[type].slots.size(); ++i)
            count(all[type], {static_cast<std::uint8_t>(type), static_cast<std::int32_t>(i)},
                  types_[type].slots[i], +1);
    }
    return all;
}

Dependents Dependents::rebuilt_from(const std::vector<PodPtr>& pods,
                                    const std::vector<ServicePtr>& services) const {
    Dependents made;
    for (const PodPtr& pod : pods) made.apply(nullptr, &pod);
    for (const ServicePtr& service : services) made.apply(nullptr, &service);
    made.rules_ = rules_;
    if (expectations_) made.expectations_ = std::make_unique<Expectations>(*expectations_);
    made.owned_objects_version_ = owned_objects_version_;
    made.ensured_version_ = ensured_version_;
    made.obstacle_ = obstacle_;
    if (owned_history_) made.owned_history_ = std::make_unique<OwnedObjectHistory>(*owned_history_);
    for (std::size_t type = 0; type < types_.size(); ++type) {
        for (std::size_t i = 0; i < types_[type].slots.size(); ++i) {
            const Slot& ours = types_[type].slots[i];
            Slot& theirs =
                made.slot({static_cast<std::uint8_t>(type), static_cast<std::int32_t>(i)});
            if (theirs.others) made.choose_pod(theirs);
            if (ours.pod && theirs.pod && ours.pod->uid == theirs.pod->uid)
                theirs.pod = latest(ours.pod, theirs.pod);
            theirs.carried = ours.carried;
            theirs.creating_pod = ours.creating_pod;
            theirs.creating_service = ours.creating_service;
            theirs.done = ours.done;
            theirs.lapsed = ours.lapsed;
            if (ours.former) theirs.former = std::make_unique<FormerObject>(*ours.former);
            if (ours.former_service)
                theirs.former_service = std::make_unique<FormerObject>(*ours.former_service);
        }
    }
    made.sum_up();
    return made;
}

/// More restarts of a type may be known than its pods account for now: those of pods that are gone,
/// if no one was watching, and of replicas that are no longer wanted. The next pod that is made
/// carries them, or else they are kept in memory.
void Dependents::settle_restarts(const std::vector<std::int32_t>& known) {
    for (const TypeFacts& type : rules_.facts->types) {
        if (rules_.wanted_slots(type) == 0) continue;
        const ReplicaTotals& totals = types_[type.type].totals;
        const std::int32_t missing = known[type.type] - totals.restarts;
        if (missing <= 0) continue;
        std::int32_t carrier = totals.vacant.next(0);
        if (carrier < 0) carrier = rules_.members ? (*rules_.members)[type.type].ids().next(0) : 0;
        Recount recount(*this, {type.type, carrier});
        recount.slot().carried += missing;
    }
}

// --- changes of the caches

void Dependents::pod_left(Slot& slot, const std::string& uid) {
    if (!slot.pod || slot.pod->uid != uid) {
        if (expectations_) expectations_->deletions.erase(uid);
        if (!slot.others) return;
        std::erase_if(*slot.others, [&](const PodPtr& other) { return other->uid == uid; });
        if (slot.others->empty()) slot.others.reset();
        return;
    }
    const PodPtr left = std::move(slot.pod);
    const PodRecord& pod = *left;
    const bool current = pod.restart_history.generation >= rules_.generation;
    const bool by_us = was_stopped(pod, expectations_.get());
    const bool stopped = has_run(pod) && !by_us;
    const bool failed = pod.phase == PodPhase::kFailed && !by_us;
    const TypeFacts* type = rules_.facts ? rules_.facts->find(pod.slot.type) : nullptr;
    Consequence next;
    if (type != nullptr && (stopped || failed))
        next = consequence_of(stopped ? PodEnd::kStopped : PodEnd::kFailedAndGone,
                              pod.final_exit_code, rules_.restart_rules(pod, *type));
    slot.carried += pod.restart_history.restarts + pod.node_restarts;
    if (next.counts) ++slot.carried;
    slot.done = pod.phase == PodPhase::kSucceeded && !by_us && current && !rules_.paused;
    slot.lapsed = next.restarts_all;
    // Whatever took it: one that was never to run may be taken away again and again, too.
    const bool follows = type != nullptr && current && !rules_.paused && !by_us && !slot.done;
    if (follows && !slot.others) {
        slot.former = std::make_unique<FormerObject>(former(pod));
        slot.former->counted = next.counts;
    }
    if (expectations_) expectations_->deletions.erase(uid);
    if (slot.others) {
        slot.pod = std::move(slot.others->back());
        slot.others->pop_back();
        choose_pod(slot);
    }
    write_off(pod.slot, slot);
}

void Dependents::pod_came(Slot& slot, PodPtr pod) {
    slot.creating_pod = slot.done = slot.lapsed = false;
    slot.former.reset();
    if (expectations_) expectations_->pods.erase(pod->slot);
    if (!slot.pod) {
        const SlotId id = pod->slot;
        const std::int32_t beyond = pod->restart_history.restarts - slot.carried;
        slot.carried = std::max(-beyond, 0);
        slot.pod = std::move(pod);
        write_off(id, slot);
        if (beyond > 0 && rules_.wants(id)) take_from_others(id, beyond);
        return;
    }
    if (!slot.others) slot.others = std::make_unique<std::vector<PodPtr>>();
    slot.others->push_back(std::move(pod));
    choose_pod(slot);
}

/// A pod accounts for more restarts than its replica has: another operator made it, and put into it
/// what we carry elsewhere.
void Dependents::take_from_others(SlotId id, std::int32_t told) {
    OfType& of_type = types_[id.type];
    for (std::size_t i = 0; told > 0 && i < of_type.slots.size(); ++i) {
        const SlotId other{id.type, static_cast<std::int32_t>(i)};
        if (other == id || of_type.slots[i].carried <= 0) continue;
        Recount recount(*this, other);
        const std::int32_t taken = std::min(told, recount.slot().carried);
        recount.slot().carried -= taken;
        told -= taken;
    }
}

/// Of several pods: one that stays, then one with the replica's name; otherwise any order, but
/// always the same.
void Dependents::choose_pod(Slot& slot) {
    if (slot.others->empty()) return slot.others.reset();
    const auto rank = [&](const PodPtr& pod) {
        return std::tuple(is_going(*pod), !pod->named_as_replica, pod->phase == PodPhase::kFailed,
                          std::string_view(pod->uid));
    };
    for (PodPtr& other : *slot.others)
        if (rank(other) < rank(slot.pod)) std::swap(other, slot.pod);
}

namespace {

/// The same pod, and still a replica of the job in the same slot.
bool stays_in_place(const PodRecord& before, const PodRecord& after) {
    return before.uid == after.uid && before.slot == after.slot && !before.label_mismatch &&
           !after.label_mismatch;
}

template <class Ptr>
void add_mismatched(std::vector<Ptr>& label_mismatch, const Ptr& object) {
    label_mismatch.insert(std::ranges::upper_bound(label_mismatch, object->uid, {},
                                                   [](const Ptr& known) { return known->uid; }),
                          object);
}
template <class Ptr>
void remove_mismatched(std::vector<Ptr>& label_mismatch, const std::string& uid) {
    std::erase_if(label_mismatch, [&](const Ptr& known) { return known->uid == uid; });
}

}  // namespace

void Dependents::apply(const PodPtr* before, const PodPtr* after) {
    if (shows_otherwise(before, after)) owned_objects_changed();
    objects_ += (after ? 1 : 0) - (before ? 1 : 0);
    if (before && after && stays_in_place(**before, **after)) return pod_shown_again(*after);
    if (before && (*before)->label_mismatch) {
        remove_mismatched(mismatched_pods_, (*before)->uid);
    } else if (before) {
        Recount recount(*this, (*before)->slot);
        pod_left(recount.slot(), (*before)->uid);
    }
    if (after && (*after)->label_mismatch) {
        add_mismatched(mismatched_pods_, *after);
    } else if (after) {
        Recount recount(*this, (*after)->slot);
        pod_came(recount.slot(), *after);
    }
    drop_met_expectations();
}

void Dependents::pod_shown_again(const PodPtr& pod) {
    Recount recount(*this, pod->slot);
    Slot& slot = recount.slot();
    if (slot.pod && slot.pod->uid == pod->uid) {
        slot.pod = latest(slot.pod, pod);
    } else if (slot.others) {
        for (PodPtr& other : *slot.others)
            if (other->uid == pod->uid) other = latest(other, pod);
    }
    if (slot.others) choose_pod(slot);
    if (!pod->deleting || !expectations_) return;
    if (auto asked = expectations_->deletions.find(pod->uid);
        asked != expectations_->deletions.end())
        asked->second.until = Instant::max();
}

void Dependents::apply(const ServicePtr* before, const ServicePtr* after) {
    objects_ += (after ? 1 : 0) - (before ? 1 : 0);
    if (before && (*before)->label_mismatch) {
        remove_mismatched(mismatched_services_, (*before)->uid);
    } else if (before) {
        const bool stays = after && (*after)->uid == (*before)->uid && !(*after)->label_mismatch &&
                           (*after)->slot == (*before)->slot;
        Recount recount(*this, (*before)->slot);
        Slot& slot = recount.slot();
        if (slot.service && slot.service->uid == (*before)->uid) {
            const bool by_us = expectations_ && expectations_->deletions.contains((*before)->uid);
            if (!stays && !by_us && !rules_.paused && rules_.wants((*before)->slot))
                slot.former_service = std::make_unique<FormerObject>(former(**before));
            slot.service.reset();
        }
        if (!stays && expectations_) expectations_->deletions.erase((*before)->uid);
    }
    if (after && (*after)->label_mismatch) {
        add_mismatched(mismatched_services_, *after);
    } else if (after) {
        Recount recount(*this, (*after)->slot);
        Slot& slot = recount.slot();
        slot.service = *after;
        slot.former_service.reset();
        slot.creating_service = false;
        if (expectations_) expectations_->services.erase((*after)->slot);
    }
    drop_met_expectations();
}

// --- requests

Expectations& Dependents::expectations() {
    if (!expectations_) expectations_ = std::make_unique<Expectations>();
    return *expectations_;
}

void Dependents::drop_met_expectations() {
    if (expectations_ && expectations_->empty()) expectations_.reset();
}

void Dependents::pod_create_sent(SlotId id, Instant until) {
    Recount recount(*this, id);
    recount.slot().creating_pod = true;
    expectations().pods[id] = until;
    expectations().earliest = std::min(expectations().earliest, until);
}

void Dependents::service_create_sent(SlotId id, Instant until) {
    Recount recount(*this, id);
    recount.slot().creating_service = true;
    expectations().services[id] = until;
    expectations().earliest = std::min(expectations().earliest, until);
}

void Dependents::delete_sent(SlotId id, const std::string& uid, Instant until) {
    Recount recount(*this, id);
    // Its labels may have moved it to another replica since the plan was made.
    if (!recount.slot().holds(uid)) return;
    const bool alive = recount.slot().has_alive(uid);
    expectations().deletions[uid] = {.until = until, .slot = id, .alive = alive};
    if (recount.slot().others) choose_pod(recount.slot());
    expectations().earliest = std::min(expectations().earliest, until);
}

void Dependents::pod_create_failed(SlotId id) {
    Recount recount(*this, id);
    recount.slot().creating_pod = false;
    if (expectations_) expectations_->pods.erase(id);
    drop_met_expectations();
}

void Dependents::service_create_failed(SlotId id) {
    Recount recount(*this, id);
    recount.slot().creating_service = false;
    if (expectations_) expectations_->services.erase(id);
    drop_met_expectations();
}

void Dependents::delete_failed(SlotId id, const std::string& uid) {
    Recount recount(*this, id);
    if (expectations_) expectations_->deletions.erase(uid);
    if (recount.slot().others) choose_pod(recount.slot());
    drop_met_expectations();
}

Instant Dependents::expire(Instant now) {
    if (!expectations_) return Instant::max();
    if (now < expectations_->earliest) return expectations_->earliest;
    std::vector<SlotId> pods;
    std::vector<SlotId> services;
    std::vector<std::pair<SlotId, std::string>> deletions;
    Instant next = Instant::max();
    const auto sort_out = [&](Instant until, auto overdue) {
        if (until <= now)
            overdue();
        else
            next = std::min(next, until);
    };
    for (const auto& [id, until] : expectations_->pods)
        sort_out(until, [&] { pods.push_back(id); });
    for (const auto& [id, until] : expectations_->services)
        sort_out(until, [&] { services.push_back(id); });
    for (const auto& [uid, asked] : expectations_->deletions)
        sort_out(asked.until, [&] { deletions.emplace_back(asked.slot, uid); });
    expectations_->earliest = next;
    for (SlotId id : pods) pod_create_failed(id);
    for (SlotId id : services) service_create_failed(id);
    for (const auto& [id, uid] : deletions) delete_failed(id, uid);
    return next;
}

// --- owned objects

OwnedObjectHistory& Dependents::owned_history() {
    if (!owned_history_) owned_history_ = std::make_unique<OwnedObjectHistory>();
    return *owned_history_;
}

// --- queries

const Dependents::OfType* Dependents::of(std::uint8_t type) const {
    return type < types_.size() ? &types_[type] : nullptr;
}

const Slot* Dependents::at(SlotId id) const {
    const OfType* of_type = of(id.type);
    const auto index = static_cast<std::size_t>(id.index);
    return of_type == nullptr || index >= of_type->slots.size() ? nullptr : &of_type->slots[index];
}

bool Dependents::has_pods() const {
    return std::ranges::any_of(types_, [](const OfType& type) { return type.totals.pods > 0; });
}

}  // namespace muster::operators
