#include "master/membership.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace muster::master {
namespace {

int down_to_multiple(int count, int unit) { return count / unit * unit; }
int up_to_multiple(int count, int unit) { return (count + unit - 1) / unit * unit; }

}  // namespace

Result<void> check(const MembershipLimits& limits) {
    const auto [least, most, unit] =
        std::tuple(limits.min_nodes, limits.max_nodes, limits.node_unit);
    if (least < 1 || most < 1)
        return Error(Code::kInvalid,
                     fmt::format("--nnodes {}:{}: a job has at least one node", least, most));
    if (least > most)
        return Error(Code::kInvalid,
                     fmt::format("--nnodes {}:{}: at least {} nodes are more than at most {}",
                                 least, most, least, most));
    if (unit < 1)
        return Error(Code::kInvalid, fmt::format("--node-unit {}: must be above 0", unit));
    if (unit > most)
        return Error(Code::kInvalid,
                     fmt::format("--node-unit {}: more than the {} nodes of --nnodes {}:{}", unit,
                                 most, least, most));
    if (up_to_multiple(least, unit) > most)
        return Error(
            Code::kInvalid,
            fmt::format("--node-unit {}: no number of nodes from {} to {} is a multiple of "
                        "it; no world could ever form",
                        unit, least, most));
    return {};
}

Membership::Membership(MembershipLimits limits, std::uint64_t epoch, bool found_world, Instant now)
    : limits_(limits), epoch_(epoch), ended_(now) {
    if (found_world) regather_until_ = now + limits.regather;
}

// ---- who is there

Result<Slot> Membership::join(Node node) {
    if (excluded_.contains(node.incarnation))
        return Error(Code::kForbidden, "this agent was excluded from the job");
    if (slots_.contains(node.incarnation))
        return Error(Code::kConflict, "this agent has joined already");
    Slot slot = node.slot ? *node.slot : free_slot();
    if (const auto held = nodes_.find(slot); held != nodes_.end())
        return Error(
            Code::kConflict,
            fmt::format("slot {} is held by the agent at {}: give each node a NODE_RANK of "
                        "its own, or none",
                        slot, held->second.node.address));
    slots_.emplace(node.incarnation, slot);
    nodes_.emplace(slot, Held{.node = std::move(node), .slot = slot});
    if (!world_) take_spares();
    return slot;
}

void Membership::lost(const std::string& incarnation, Instant now) {
    const auto found = slots_.find(incarnation);
    if (found == slots_.end()) return;
    const Slot slot = found->second;
    slots_.erase(found);
    nodes_.erase(slot);
    const Member* member = world_ ? world_->find(slot) : nullptr;
    if (member != nullptr && member->incarnation == incarnation) end_world(now);
}

void Membership::exclude(const std::string& incarnation, Instant now) {
    excluded_.insert(incarnation);
    lost(incarnation, now);
}

void Membership::restart(Instant now) {
    if (world_) end_world(now);
}

void Membership::end_world(Instant now) {
    world_.reset();
    ended_ = now;
    take_spares();
}

std::optional<Slot> Membership::slot_of(const std::string& incarnation) const {
    const auto found = slots_.find(incarnation);
    if (found == slots_.end()) return std::nullopt;
    return found->second;
}

/// First where somebody of the last world is missing, so that the others keep their places.
Slot Membership::free_slot() const {
    if (last_)
        for (const Member& member : last_->members)
            if (!nodes_.contains(member.slot)) return member.slot;
    Slot slot = 0;
    while (nodes_.contains(slot)) ++slot;
    return slot;
}

/// Spares get places that have become free.
void Membership::take_spares() {
    for (;;) {
        const auto spare = nodes_.lower_bound(limits_.max_nodes);
        if (spare == nodes_.end()) return;
        const Slot slot = free_slot();
        if (is_spare(slot)) return;
        auto moved = nodes_.extract(spare);
        moved.key() = moved.mapped().slot = slot;
        slots_[moved.mapped().node.incarnation] = slot;
        nodes_.insert(std::move(moved));
    }
}

// ---- worlds

/// The smallest world.
int Membership::least() const { return up_to_multiple(limits_.min_nodes, limits_.node_unit); }

/// The size of the largest world that could be made.
int Membership::usable() const {
    const auto places = std::distance(nodes_.begin(), nodes_.lower_bound(limits_.max_nodes));
    return down_to_multiple(static_cast<int>(places), limits_.node_unit);
}

bool Membership::advance(Instant now) {
    if (regather_until_) return regather(now);
    if (world_) {
        if (usable() <= static_cast<int>(world_->members.size())) return false;
    } else if (!may_form(now)) {
        return false;
    }
    form();
    return true;
}

/// True: the world of the earlier master goes on, or there is a new one.
bool Membership::regather(Instant now) {
    const World* newest = nullptr;
    for (const auto& [slot, held] : nodes_)
        if (held.node.holds &&
            (newest == nullptr || newest->generation < held.node.holds->generation))
            newest = &*held.node.holds;
    const bool over = now >= *regather_until_;
    if (newest == nullptr) {
        if (!over && usable() < down_to_multiple(limits_.max_nodes, limits_.node_unit))
            return false;
        regather_until_.reset();
        return advance(now);
    }
    const bool all = std::ranges::all_of(newest->members, [&](const Member& member) {
        const auto held = nodes_.find(member.slot);
        return held != nodes_.end() && held->second.node.incarnation == member.incarnation &&
               held->second.node.holds && held->second.node.holds->generation == newest->generation;
    });
    if (!all && !over) return false;
    regather_until_.reset();
    last_ = *newest;
    number_ = newest->generation.number;
    last_call_first_ = false;
    if (!all) {
        take_spares();
        return advance(now);
    }
    world_ = last_;
    return true;
}

bool Membership::may_form(Instant now) {
    const int now_usable = usable();
    if (now_usable < least()) {
        last_call_first_ = true;
        enough_since_.reset();
        return false;
    }
    if (!last_call_first_ || now_usable == down_to_multiple(limits_.max_nodes, limits_.node_unit))
        return true;
    if (!enough_since_) enough_since_ = now;
    return now >= *enough_since_ + limits_.last_call;
}

/// Those of the last world first, then by slot.
std::vector<const Membership::Held*> Membership::chosen() const {
    std::vector<const Held*> chosen;
    for (const auto& [slot, held] : nodes_)
        if (!is_spare(slot)) chosen.push_back(&held);
    std::ranges::sort(chosen, {}, [&](const Held* held) {
        return std::pair(!last_ || last_->find(held->slot) == nullptr, held->slot);
    });
    chosen.resize(static_cast<std::size_t>(usable()));
    // A rack stands where its lowest slot does.
    std::map<std::string, Slot> first_of_rack;
    for (const Held* held : chosen) {
        if (held->node.rack.empty()) continue;
        auto [first, is_new] = first_of_rack.try_emplace(held->node.rack, held->slot);
        first->second = std::min(first->second, held->slot);
    }
    std::ranges::sort(chosen, {}, [&](const Held* held) {
        const auto rack = first_of_rack.find(held->node.rack);
        return std::pair(rack == first_of_rack.end() ? held->slot : rack->second, held->slot);
    });
    return chosen;
}

void Membership::form() {
    World made{.generation = {.epoch = epoch_, .number = ++number_}, .members = {}};
    for (const Held* held : chosen())
        made.members.push_back({.slot = held->slot,
                                .incarnation = held->node.incarnation,
                                .address = held->node.address,
                                .local_size = held->node.local_size,
                                .first_rank = made.size()});
    world_ = last_ = std::move(made);
    last_call_first_ = false;
    enough_since_.reset();
}

Instant Membership::wake_at() const {
    if (regather_until_) return *regather_until_;
    if (!world_ && enough_since_) return *enough_since_ + limits_.last_call;
    return Instant::max();
}

std::optional<Shortage> Membership::shortage() const {
    if (world_ || enough_since_) return std::nullopt;
    Shortage shortage{.need = least(), .absent = {}, .since = ended_};
    for (Slot slot = 0; slot < limits_.max_nodes; ++slot) {
        if (nodes_.contains(slot))
            ++shortage.have;
        else
            shortage.absent.push_back(slot);
    }
    return shortage;
}

}  // namespace muster::master
