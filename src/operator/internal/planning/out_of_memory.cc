#include "operator/internal/planning/out_of_memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "jobs/scale_plan.h"
#include "kube/values/quantity.h"
#include "operator/internal/restart_policy/memory_growth.h"

namespace muster::operators {
namespace {

const std::string kMemory = "memory";
constexpr std::size_t kMostToldOfMemory = 3;

std::int64_t bytes_of(const kube::ResourceList& amounts) {
    const auto memory = amounts.find(kMemory);
    if (memory == amounts.end()) return 0;
    const auto quantity = kube::Quantity::parse(memory->second);
    return quantity ? quantity->ceil_units() : 0;
}

std::string text_of(std::int64_t bytes) {
    return kube::Quantity::from_units(bytes, kube::Quantity::Format::kBinarySi).to_string();
}

std::optional<std::int64_t> ran_out_of(const Slot* slot) {
    if (slot == nullptr) return std::nullopt;
    if (slot->pod) return slot->pod->ran_out_of;
    return slot->former ? slot->former->ran_out_of : std::nullopt;
}

std::string told_of(const std::string& pod, std::int64_t had, const MemoryGrowth& growth) {
    switch (growth.outcome) {
        case MemoryGrowth::Outcome::kMore:
            return fmt::format("{} ran out of {} of memory: the pod after it has {}.", pod,
                               text_of(had), text_of(growth.bytes));
        case MemoryGrowth::Outcome::kEnough:
            return fmt::format("{} ran out of {} of memory: the pod after it has {} in any case.",
                               pod, text_of(had), text_of(growth.bytes));
        case MemoryGrowth::Outcome::kUnlimited:
            return fmt::format(
                "{} ran out of memory, and the pod after it has no more: nothing is "
                "raised without a request or limit, so add one to its template.",
                pod);
        case MemoryGrowth::Outcome::kMost:
            return fmt::format(
                "{} ran out of {} of memory, and by itself none gets more than {}: "
                "raise what its template requests.",
                pod, text_of(had), text_of(kMostMemory));
        case MemoryGrowth::Outcome::kNothingLeft:
            break;
    }
    return fmt::format(
        "{} ran out of {} of memory, and the job may not request more: raise "
        "spec.resourceLimits.memory.",
        pod, text_of(had));
}

}  // namespace

/// What `resourceLimits` leave beside what all wanted replicas request.
std::optional<std::int64_t> MemoryRaises::left() {
    const JobFacts& facts = *job_.facts;
    const jobs::MemoryPolicy& policy = *facts.resources->memory;
    if (summed_up_ || !policy.limit) return left_;
    summed_up_ = true;
    double sum = 0;  // anyone may write amounts whose sum an integer can't hold
    for (const ReplicaTypeState& state : states_) {
        const std::uint8_t type = state.facts.type;
        sum += state.counts.wanted * static_cast<double>(policy.each[type]);
        if (state.members == nullptr) continue;
        for (const auto& [rank, own] : state.members->own_resources())
            if (const std::int64_t bytes = bytes_of(own_amounts(facts, type, *state.members, rank));
                bytes > 0)
                sum += static_cast<double>(bytes - bytes_of(facts.resources->written[type]));
    }
    constexpr auto kMost = static_cast<double>(kMostMemory);
    left_ =
        static_cast<std::int64_t>(std::clamp(static_cast<double>(*policy.limit) - sum, 0.0, kMost));
    return left_;
}

std::string MemoryRaises::raise(ReplicaTypeState& state, std::int32_t id, std::int64_t had) {
    const JobFacts& facts = *job_.facts;
    const std::uint8_t type = state.facts.type;
    const kube::ResourceList& written = facts.resources->written[type];
    const std::int32_t rank = state.members->rank_of(id);
    const std::string pod = jobs::replica_name(*job_.kind, job_.name, {state.name, id});
    const OwnResourcesByRank& known = state.members->own_resources();
    const auto before = known.find(rank);
    const std::int64_t own = bytes_of(own_amounts(facts, type, *state.members, rank));
    const std::int64_t would_be = own > 0 ? own : bytes_of(written);
    const MemoryGrowth growth = memory_after({.had = had, .would_be = would_be, .left = left()});
    if (growth.outcome != MemoryGrowth::Outcome::kMore) return told_of(pod, had, growth);
    if (before == known.end() &&
        known.size() + state.own_resources.size() >= jobs::kMostOwnResources)
        return fmt::format(
            "{} ran out of {} of memory, and {} others have memory of their own "
            "already: raise what the template requests.",
            pod, text_of(had), jobs::kMostOwnResources);
    if (left_) *left_ -= growth.bytes - would_be;
    state.own_resources.insert_or_assign(
        rank, jobs::with_amounts(before == known.end() ? jobs::OwnResources() : before->second,
                                 {{kMemory, json::value(text_of(growth.bytes))}}, written));
    return told_of(pod, had, growth);
}

void MemoryRaises::raise(ReplicaTypeState& state, std::span<const std::int32_t> ids) {
    const bool concerned = job_.facts->resources && job_.facts->resources->memory &&
                           state.members != nullptr &&
                           !job_.kind->replica_types[state.facts.type].own_program;
    if (!concerned) return;
    std::size_t raised = 0;
    for (const std::int32_t id : ids) {
        const auto had = ran_out_of(dependents_.at({state.facts.type, id}));
        if (!had) continue;
        const std::string told = raise(state, id, *had);
        if (++raised <= kMostToldOfMemory)
            state.told_of_memory += (state.told_of_memory.empty() ? "" : " ") + told;
    }
    if (raised > kMostToldOfMemory)
        state.told_of_memory += fmt::format(" And so did {} more.", raised - kMostToldOfMemory);
}

void MemoryRaises::raise_all_failed(ReplicaTypeState& state) {
    std::vector<std::int32_t> failed;
    if (state.members != nullptr)
        for (auto id = state.members->ids().next(0); id >= 0;
             id = state.members->ids().next(id + 1))
            if (const Slot* slot = dependents_.at({state.facts.type, id});
                slot != nullptr && slot->pod && slot->pod->ran_out_of)
                failed.push_back(id);
    raise(state, failed);
}

}  // namespace muster::operators
