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
    if (!found_world) return;
    begin_rejoin(now);
    if (limits.await_first) rejoin_until_ = reconnect_until_ = Instant::max();
}

void Membership::begin_rejoin(Instant now) {
    rejoin_until_ = now + limits_.rejoin;
    reconnect_until_ = now + std::min(limits_.reconnect_grace, limits_.rejoin);
}

void Membership::reached(Instant now) {
    if (rejoin_until_ == Instant::max()) begin_rejoin(now);
}

void Membership::limit_to(MembershipLimits limits) {
    limits.await_first = limits_.await_first;
    limits_ = limits;
    if (!rejoin_until_) take_standbys();
}

bool Membership::would_grow_with(const MembershipLimits& limits) const {
    if (!world_ || growth_held_ || limits.grow_at_failure) return false;
    const int usable = usable_with(limits);
    return usable > static_cast<int>(world_->members.size()) &&
           usable >= up_to_multiple(limits.min_nodes, limits.node_unit);
}

// ---- nodes

Result<Slot> Membership::join(Node node) {
    if (excluded_.contains(node.incarnation))
        return Error(Code::kForbidden, "this agent was excluded from the job");
    if (slots_.contains(node.incarnation))
        return Error(Code::kConflict, "this agent has already joined");
    Slot slot = node.slot && !rejoin_until_ ? *node.slot : free_slot();
    if (const auto held = nodes_.find(slot); held != nodes_.end())
        return Error(
            Code::kConflict,
            fmt::format(
                "slot {} is held by the agent at {}: give each node its own NODE_RANK, or none",
                slot, held->second.node.address));
    put(slot, std::move(node));
    if (rejoin_until_)
        find(nodes_.at(slot));
    else if (!world_)
        take_standbys();
    return slot;
}

Result<Slot> Membership::succeed(const std::string& incarnation, Node node) {
    const auto before = slots_.find(incarnation);
    if (before == slots_.end())
        return Error(Code::kNotFound, "the agent whose workers it took over is already lost");
    if (slots_.contains(node.incarnation))
        return Error(Code::kConflict, "this agent has already joined");
    const Slot slot = before->second;
    slots_.erase(before);
    slots_.emplace(node.incarnation, slot);
    for (std::optional<World>* world : {&world_, &last_})
        if (*world)
            for (Member& member : (*world)->members)
                if (member.incarnation == incarnation) member.incarnation = node.incarnation;
    Held& held = nodes_.at(slot);
    held.node = std::move(node);
    if (rejoin_until_) find(held);
    return slot;
}

void Membership::put(Slot slot, Node node) {
    slots_.emplace(node.incarnation, slot);
    nodes_.emplace(slot, Held{.node = std::move(node), .slot = slot});
    vacated_.erase(slot);
    while (nodes_.contains(first_free_)) ++first_free_;
}

void Membership::take(Slot slot) {
    nodes_.erase(slot);
    first_free_ = std::min(first_free_, slot);
    if (last_slots_.contains(slot)) vacated_.insert(slot);
}

void Membership::lost(const std::string& incarnation, Instant now) {
    const auto found = slots_.find(incarnation);
    if (found == slots_.end()) return;
    const Slot slot = found->second;
    slots_.erase(found);
    take(slot);
    const Member* member = world_ ? world_->find(slot) : nullptr;
    if (member != nullptr && member->incarnation == incarnation)
        end_world(now);
    else if (!rejoin_until_)
        take_standbys();
}

void Membership::holds(const std::string& incarnation, const std::optional<World>& held,
                       std::optional<Generation> gave_up, bool failed) {
    const auto slot = slots_.find(incarnation);
    if (!rejoin_until_ || slot == slots_.end()) return;
    Held& here = nodes_.at(slot->second);
    here.node.holds = held;
    here.node.gave_up = gave_up;
    here.node.failed = failed;
    find(here);
}

void Membership::has_address(const std::string& incarnation, std::string address) {
    const auto slot = slots_.find(incarnation);
    if (slot != slots_.end()) nodes_.at(slot->second).node.address = std::move(address);
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
    take_standbys();
}

std::optional<Slot> Membership::slot_of(const std::string& incarnation) const {
    const auto found = slots_.find(incarnation);
    if (found == slots_.end()) return std::nullopt;
    return found->second;
}

void Membership::restarted_alone(int restarts) {
    if (!world_ || world_->nodes != 1) return;
    world_->restarts = last_->restarts = std::max(world_->restarts, restarts);
}

/// Prefers slots of lost members of the last world, so that the others keep their places. Not those that
/// fewer nodes no longer have.
Slot Membership::free_slot() const {
    if (rejoin_until_) {
        Slot slot = limits_.max_nodes;
        while (nodes_.contains(slot)) ++slot;
        return slot;
    }
    return vacated_.empty() || is_standby(*vacated_.begin()) ? first_free_ : *vacated_.begin();
}

/// Gives free places to standby nodes.
void Membership::take_standbys() {
    for (;;) {
        const auto standby = nodes_.lower_bound(limits_.max_nodes);
        if (standby == nodes_.end()) return;
        const Slot slot = free_slot();
        if (is_standby(slot)) return;
        const Slot from = standby->first;
        Node node = std::move(standby->second.node);
        slots_.erase(node.incarnation);
        take(from);
        put(slot, std::move(node));
    }
}

void Membership::remember_last(World world) {
    last_slots_.clear();
    vacated_.clear();
    for (const Member& member : world.members) {
        last_slots_.insert(member.slot);
        if (!nodes_.contains(member.slot)) vacated_.insert(member.slot);
    }
    number_ = world.generation.number;
    last_ = std::move(world);
}

// ---- worlds

int Membership::least() const { return up_to_multiple(limits_.min_nodes, limits_.node_unit); }

/// The number of nodes that are not standby nodes.
int Membership::places() const {
    const auto standbys = std::distance(nodes_.lower_bound(limits_.max_nodes), nodes_.end());
    return static_cast<int>(nodes_.size()) - static_cast<int>(standbys);
}

int Membership::usable() const { return down_to_multiple(places(), limits_.node_unit); }

/// Standby nodes take places that they can have.
int Membership::usable_with(const MembershipLimits& limits) const {
    return down_to_multiple(std::min(static_cast<int>(nodes_.size()), limits.max_nodes),
                            limits.node_unit);
}

bool Membership::advance(Instant now) {
    first_waits_ = false;
    if (rejoin_until_) return rejoin(now);
    if (world_) {
        if (growth_held_ || limits_.grow_at_failure) return false;
        if (usable() <= static_cast<int>(world_->members.size())) return false;
    } else if (!may_form(now)) {
        return false;
    } else if (first_held_ && number_ == 0) {
        first_waits_ = true;
        return false;
    }
    form();
    return true;
}

/// Adds what the node knows of the newest world found.
void Membership::find(const Held& held) {
    const Node& node = held.node;
    if (!node.holds || node.holds->generation < newest_.generation) return;
    if (newest_.generation < node.holds->generation) {
        newest_ = *node.holds;
        newest_members_.clear();
    }
    newest_.restarts = std::max(newest_.restarts, node.holds->restarts);
    for (const Member& member : node.holds->members) {
        Member& known = newest_members_.try_emplace(member.group_rank, member).first->second;
        // A new agent that took over the workers of one that ended.
        if (member.group_rank == node.holds->own_rank) known.incarnation = node.incarnation;
    }
}

Membership::Found Membership::found() const {
    if (static_cast<int>(newest_members_.size()) != newest_.nodes) return Found::kNotYet;
    if (reconnect_until_ && std::pair(newest_.generation, newest_.restarts) <= to_end_)
        return Found::kNotYet;
    bool whole = true;
    for (const auto& [rank, member] : newest_members_) {
        const auto slot = slots_.find(member.incarnation);
        if (slot == slots_.end()) {
            if (!is_replaced(member)) return Found::kNotYet;
            whole = false;
            continue;
        }
        const Node& node = nodes_.at(slot->second).node;
        whole = whole && (!node.gave_up || *node.gave_up < newest_.generation);
    }
    if (whole) return Found::kWhole;
    // It stopped on the master's order, so there may be a newer world whose members have not come
    // yet.
    return reconnect_until_ ? Found::kNotYet : Found::kBroken;
}

/// Another agent has joined with its slot. If that is a standby node with the slot of an agent that itself
/// comes back, it should have come by now.
bool Membership::is_replaced(const Member& member) const {
    return !reconnect_until_ && std::ranges::any_of(nodes_, [&](const auto& held) {
        return held.second.node.slot == member.slot && !held.second.node.holds;
    });
}

/// The newest world must restart, whichever nodes come.
bool Membership::has_failed() const {
    return std::ranges::any_of(nodes_, [&](const auto& held) {
        const Node& node = held.second.node;
        return node.failed && node.holds && node.holds->generation == newest_.generation;
    });
}

/// True: the world of the earlier master continues, or there is a new one.
bool Membership::rejoin(Instant now) {
    if (reconnect_until_ && now >= *reconnect_until_) reconnect_until_.reset();
    const bool over = now >= *rejoin_until_ || (!reconnect_until_ && has_failed());
    if (newest_members_.empty()) {
        const int all = down_to_multiple(limits_.max_nodes, limits_.node_unit);
        if (!over && (reconnect_until_ || static_cast<int>(nodes_.size()) < all)) return false;
        rejoin_until_.reset();
        give_places({});
        return advance(now);
    }
    const bool may_be_whole = static_cast<int>(nodes_.size()) >= newest_.nodes;
    const Found state = over || may_be_whole ? found() : Found::kNotYet;
    if (state == Found::kNotYet && !over) return false;
    rejoin_until_.reset();
    newest_.members.clear();
    newest_.own_rank = 0;
    for (const auto& [rank, member] : newest_members_) newest_.members.push_back(member);
    last_call_first_ = false;
    give_places(std::exchange(newest_members_, {}));
    if (state != Found::kWhole) return advance(now);
    world_ = last_;
    return true;
}

/// Members of the found world keep their slots; other nodes keep theirs if they are free.
void Membership::give_places(const std::map<int, Member>& members) {
    std::map<Slot, Held> all = std::exchange(nodes_, {});
    std::map<std::string, Slot> theirs;
    for (const auto& [rank, member] : members) theirs[member.incarnation] = member.slot;
    slots_.clear();
    first_free_ = 0;
    const auto put_those = [&](auto&& slot_of) {
        for (auto held = all.begin(); held != all.end();) {
            const std::optional<Slot> slot = slot_of(held->second.node);
            if (!slot || nodes_.contains(*slot)) {
                ++held;
                continue;
            }
            put(*slot, std::move(held->second.node));
            held = all.erase(held);
        }
    };
    put_those([&](const Node& node) -> std::optional<Slot> {
        const auto slot = theirs.find(node.incarnation);
        return slot == theirs.end() ? std::nullopt : std::optional(slot->second);
    });
    if (!members.empty()) remember_last(std::move(newest_));
    put_those([](const Node& node) { return node.slot; });
    for (auto& [slot, held] : all) {
        Slot standby = limits_.max_nodes;
        while (nodes_.contains(standby)) ++standby;
        put(standby, std::move(held.node));
    }
    take_standbys();
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

/// Members of the last world first, then by slot.
std::vector<const Membership::Held*> Membership::chosen() const {
    std::vector<const Held*> chosen;
    for (const auto& [slot, held] : nodes_)
        if (!is_standby(slot)) chosen.push_back(&held);
    std::ranges::sort(chosen, {}, [&](const Held* held) {
        return std::pair(!last_slots_.contains(held->slot), held->slot);
    });
    chosen.resize(static_cast<std::size_t>(usable()));
    // A rack is ordered by its lowest slot.
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
    World made{.generation = {.epoch = epoch_, .number = number_ + 1},
               .members = {},
               .restarts = last_ ? last_->restarts + 1 : 0};
    for (const Held* held : chosen()) {
        made.members.push_back({.slot = held->slot,
                                .incarnation = held->node.incarnation,
                                .address = held->node.address,
                                .local_size = held->node.local_size,
                                .first_rank = made.ranks,
                                .group_rank = made.nodes,
                                .store_port = held->node.store_port,
                                .addresses = held->node.addresses});
        made.ranks += held->node.local_size;
        ++made.nodes;
    }
    remember_last(made);
    world_ = std::move(made);
    last_call_first_ = false;
    enough_since_.reset();
}

Instant Membership::wake_at() const {
    if (rejoin_until_) return reconnect_until_.value_or(*rejoin_until_);
    if (!world_ && enough_since_ && !first_waits_) return *enough_since_ + limits_.last_call;
    return Instant::max();
}

std::optional<Shortage> Membership::shortage() const {
    if (world_ || enough_since_) return std::nullopt;
    Shortage shortage{.need = least(), .absent = {}, .since = ended_};
    if (rejoin_until_) {  // no node has a place
        shortage.have = static_cast<int>(nodes_.size());
        for (const auto& [rank, member] : newest_members_)
            if (!slots_.contains(member.incarnation))
                shortage.absent.emplace_back(member.slot, member.address);
        return shortage;
    }
    for (Slot slot = 0; slot < limits_.max_nodes; ++slot) {
        if (nodes_.contains(slot)) {
            ++shortage.have;
            continue;
        }
        const Member* const before = last_ ? last_->find(slot) : nullptr;
        shortage.absent.emplace_back(slot, before == nullptr ? "" : before->address);
    }
    return shortage;
}

}  // namespace muster::master
