#include "operator/internal/scaling/scale_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "kube/values/field_path.h"
#include "operator/internal/members/members.h"

namespace muster::operators {
namespace {

Error refused(std::string_view field, std::string_view why) {
    return Error(Code::kInvalid, fmt::format("{}: {}", field, why));
}

/// Texts of others go into messages.
std::string_view shown(std::string_view text) { return text.substr(0, 128); }

class OrderMaker {
  public:
    OrderMaker(const JobRecord& job, const jobs::JobStatus& status, JobMembersPtr members)
        : job_(job), facts_(*job.facts), members_(std::move(members)) {
        order_.executed.replicas = asked_of(facts_, status);
        if (!status.plan) return;
        order_.executed.excluded_nodes = status.plan->excluded_nodes;
        order_.executed.spares = status.plan->spares;
    }

    Result<ScaleOrder> make(const jobs::ScalePlanSpec& plan) {
        TRY_VOID(take_old_pods(plan.remove_pods, "spec.removePods", &ScaleOrder::OfType::removed));
        TRY_VOID(
            take_old_pods(plan.migrate_pods, "spec.migratePods", &ScaleOrder::OfType::migrated));
        TRY_VOID(take_new_pods(plan.create_pods));
        TRY_VOID(take_numbers(plan.replica_resource_specs));
        for (auto& [type, change] : order_.types) TRY_VOID(settle(type, change));
        for (const auto& [type, change] : order_.types) note_new_ids(type, change);
        TRY_VOID(place_new_pods(plan.create_pods));
        for (std::size_t i = 0; i < plan.migrate_pods.size(); ++i)
            TRY_VOID(give_resource(migrated_[i], plan.migrate_pods[i],
                                   kube::item_path("spec.migratePods", i), own_of(migrated_[i])));
        take_spares(plan.spare_pods);
        return std::move(order_);
    }

  private:
    struct Place {
        std::uint8_t type = 0;
        std::int32_t rank = 0;
    };
    struct NewPods {
        Members after;
        IndexSet ids;  ///< of those that no entry of the plan has described yet
    };

    const std::string& name_of(std::uint8_t type) const { return facts_.name_of(type); }
    const Members& members(std::uint8_t type) const { return (*members_)[type]; }

    /// Null for a type that the job lacks, or that is no part of what is scaled.
    const TypeFacts* scaled(std::string_view type) const {
        for (const TypeFacts& facts : facts_.types)
            if (name_of(facts.type) == type && !job_.kind->replica_types[facts.type].own_program)
                return &facts;
        return nullptr;
    }

    ScaleOrder::OfType& change_of(const TypeFacts& facts) {
        return order_.types.try_emplace(facts.type, ScaleOrder::OfType{.wanted = facts.wanted})
            .first->second;
    }

    // --- pods that exist

    Result<SlotId> find(const jobs::PlannedPod& pod, const std::string& field) {
        if (pod.name.empty()) {
            const TypeFacts* facts = scaled(pod.type);
            const std::int32_t id = pod.id.value_or(-1);
            if (facts != nullptr && members(facts->type).contains(id))
                return SlotId{facts->type, id};
            return refused(
                field,
                fmt::format("the job has no {} with the id {}{}", shown(pod.type), id,
                            facts == nullptr
                                ? std::string()
                                : fmt::format("; there are {}",
                                              shown(members(facts->type).ids().to_string()))));
        }
        if (by_name_.empty()) note_names();
        const auto found = by_name_.find(pod.name);
        if (found == by_name_.end())
            return refused(field, fmt::format("the job has no pod \"{}\"", shown(pod.name)));
        const SlotId slot = found->second;
        if ((!pod.type.empty() && pod.type != name_of(slot.type)) ||
            (pod.id && *pod.id != slot.index))
            return refused(field,
                           fmt::format("the pod \"{}\" is {} {}, and the plan says otherwise",
                                       shown(pod.name), name_of(slot.type), slot.index));
        return slot;
    }
    void note_names() {
        for (const TypeFacts& facts : facts_.types) {
            if (scaled(name_of(facts.type)) == nullptr) continue;
            const IndexSet& ids = members(facts.type).ids();
            for (auto id = ids.next(0); id >= 0; id = ids.next(id + 1))
                by_name_.emplace(
                    jobs::replica_name(*job_.kind, job_.name, {name_of(facts.type), id}),
                    SlotId{facts.type, id});
        }
    }

    Result<void> take_old_pods(const std::vector<jobs::PlannedPod>& pods, std::string_view list,
                               std::vector<std::int32_t> ScaleOrder::OfType::* into) {
        for (std::size_t i = 0; i < pods.size(); ++i) {
            const std::string field = kube::item_path(std::string(list), i);
            TRY(const SlotId slot, find(pods[i], field));
            if (!changed_.insert(slot).second)
                return refused(field, fmt::format("the plan changes {} {} twice; keep one of the "
                                                  "two",
                                                  name_of(slot.type), slot.index));
            const bool migrates = into == &ScaleOrder::OfType::migrated;
            if (migrates) TRY_VOID(check_may_migrate(slot, field));
            if (migrates) migrated_.push_back({slot.type, members(slot.type).rank_of(slot.index)});
            (change_of(*facts_.find(slot.type)).*into).push_back(slot.index);
        }
        return {};
    }
    Result<void> check_may_migrate(SlotId slot, const std::string& field) const {
        const Members& known = members(slot.type);
        for (const Members::Takeover& one : known.takeovers())
            if (one.from == slot.index || one.to == slot.index)
                return refused(field, fmt::format("{} {} is being replaced by {} already",
                                                  name_of(slot.type), one.from, one.to));
        if (!known.may_replace())
            return refused(field, fmt::format("all ids of {} are used up", name_of(slot.type)));
        return {};
    }

    /// Those that the plan names instead of those before. A pod that is not there is no spare any more.
    void take_spares(const std::vector<jobs::PlannedPod>& pods) {
        if (pods.empty()) return;
        std::map<std::uint8_t, IndexSet> ids;
        for (const jobs::PlannedPod& pod : pods)
            if (const auto slot = find(pod, "spec.sparePods")) ids[slot->type].insert(slot->index);
        order_.executed.spares.clear();
        for (const auto& [type, of_type] : ids)
            order_.executed.spares.emplace(name_of(type), of_type.to_string());
    }

    // --- pods to be made

    Result<void> take_new_pods(const std::vector<jobs::PlannedPod>& pods) {
        for (std::size_t i = 0; i < pods.size(); ++i) {
            const std::string field = kube::item_path("spec.createPods", i);
            const TypeFacts* facts = scaled(pods[i].type);
            if (facts == nullptr) return no_such_type(pods[i].type, field + ".type");
            change_of(*facts);
            ++made_[facts->type];
        }
        return {};
    }
    Error no_such_type(std::string_view type, std::string_view field) const {
        return refused(field, fmt::format("the job's manifest has no {}: a plan changes the number "
                                          "of replicas that have a template",
                                          shown(type)));
    }

    /// Those that the plan makes for ranks that are free; a migration's are not among them.
    void note_new_ids(std::uint8_t type, const ScaleOrder::OfType& change) {
        const Members& before = members(type);
        NewPods& made = new_pods_[type];
        made.after = next_members(
            before,
            {.wanted = change.wanted, .removed = change.removed, .migrated = change.migrated});
        const std::vector<Members::Takeover>& takeovers = made.after.takeovers();
        for (auto id = made.after.ids().next(before.next()); id >= 0;
             id = made.after.ids().next(id + 1))
            if (std::ranges::find(takeovers, id, &Members::Takeover::to) == takeovers.end())
                made.ids.insert(id);
    }
    /// Ids and ranks follow from those that are there: a plan that has others was made for another
    /// state of the job. Those that say which they are come first.
    Result<void> place_new_pods(const std::vector<jobs::PlannedPod>& pods) {
        for (const bool named : {true, false})
            for (std::size_t i = 0; i < pods.size(); ++i) {
                const jobs::PlannedPod& pod = pods[i];
                if ((pod.id || pod.rank_index || !pod.name.empty()) != named) continue;
                const std::string field = kube::item_path("spec.createPods", i);
                const std::uint8_t type = scaled(pod.type)->type;
                NewPods& made = new_pods_.at(type);
                const std::int32_t id = id_for(pod, type, made);
                if (id < 0 && named)
                    return refused(field,
                                   fmt::format("the next {} has the id {} and the lowest rank that "
                                               "is free: leave out name, id and rankIndex",
                                               name_of(type), next_id(type)));
                if (id < 0 && !pod.resource.empty())
                    return refused(field, fmt::format("the plan makes fewer pods of {} than "
                                                      "createPods has: leave out its number in "
                                                      "replicaResourceSpecs",
                                                      name_of(type)));
                if (id < 0) continue;
                made.ids.erase(id);
                TRY_VOID(give_resource({type, made.after.rank_of(id)}, pod, field, {}));
            }
        return {};
    }
    std::int32_t id_for(const jobs::PlannedPod& pod, std::uint8_t type, const NewPods& made) const {
        const auto is_meant = [&](std::int32_t id) {
            return (!pod.id || *pod.id == id) &&
                   (!pod.rank_index || *pod.rank_index == made.after.rank_of(id)) &&
                   (pod.name.empty() ||
                    pod.name == jobs::replica_name(*job_.kind, job_.name, {name_of(type), id}));
        };
        std::int32_t id = made.ids.next(0);
        while (id >= 0 && !is_meant(id)) id = made.ids.next(id + 1);
        return id;
    }
    std::int32_t next_id(std::uint8_t type) const {
        return members(type).next() +
               static_cast<std::int32_t>(order_.types.at(type).migrated.size());
    }

    // --- resources of single pods

    /// What the type's template has once this plan is executed. A type that only the kind's defaults
    /// have is made of the scaled one.
    kube::ResourceList written_amounts(std::uint8_t type) const {
        if (!facts_.resources) return {};
        kube::ResourceList written = facts_.resources->written[type];
        const std::string& source =
            facts_.find(type)->written ? name_of(type) : job_.kind->scaled_type;
        const auto asked = order_.executed.replicas.find(source);
        if (asked == order_.executed.replicas.end()) return written;
        for (const auto& [name, amount] : asked->second.resource)
            if (jobs::may_be_own(name)) written.insert_or_assign(name, amount);
        return written;
    }
    /// `before`: what the replica has of its own up to now.
    Result<void> give_resource(Place place, const jobs::PlannedPod& pod, const std::string& field,
                               const jobs::OwnResources& before) {
        if (pod.resource.empty()) return {};
        const OwnResourcesByRank& known = members(place.type).own_resources();
        OwnResourcesByRank& changed = order_.types.at(place.type).own_resources;
        changed.insert_or_assign(
            place.rank, jobs::with_amounts(before, pod.resource, written_amounts(place.type)));
        const auto added = static_cast<std::size_t>(std::ranges::count_if(
            changed, [&](const auto& one) { return !known.contains(one.first); }));
        if (known.size() + added <= jobs::kMostOwnResources) return {};
        return refused(field + ".resource",
                       fmt::format("more than {} replicas of {} would have resources of their own: "
                                   "write those of the type into replicaResourceSpecs",
                                   jobs::kMostOwnResources, name_of(place.type)));
    }
    jobs::OwnResources own_of(Place place) const {
        const OwnResourcesByRank& known = members(place.type).own_resources();
        const auto found = known.find(place.rank);
        return found == known.end() ? jobs::OwnResources() : found->second;
    }

    // --- numbers

    Result<void> take_numbers(const std::map<std::string, jobs::ReplicaResources>& all) {
        for (const auto& [type, asked] : all) {
            const std::string field = kube::child_path("spec.replicaResourceSpecs", type);
            const TypeFacts* facts = scaled(type);
            if (facts == nullptr || !facts->written) return no_such_type(type, field);
            if (asked.replicas) {
                change_of(*facts);
                numbers_[facts->type] = *asked.replicas;
            }
            if (!asked.resource.empty()) order_.executed.replicas[type].resource = asked.resource;
        }
        return {};
    }

    /// How many of the manifest's replicas are of another type.
    std::int32_t moved(const TypeFacts& facts) const {
        const auto asked = order_.executed.replicas.find(name_of(facts.type));
        const bool differs =
            asked != order_.executed.replicas.end() && asked->second.replicas.has_value();
        return (differs ? *asked->second.replicas : facts.written.value_or(facts.wanted)) -
               facts.wanted;
    }
    std::int32_t ranks_without(std::uint8_t type, const std::vector<std::int32_t>& removed) const {
        IndexSet left = members(type).ids();
        for (const std::int32_t id : removed) left.erase(id);
        IndexSet ranks;
        for (auto id = left.next(0); id >= 0; id = left.next(id + 1))
            ranks.insert(members(type).rank_of(id));
        return ranks.size();
    }

    /// From what the plan says of a type to how many ranks it has, and what the status keeps of that.
    Result<void> settle(std::uint8_t type, ScaleOrder::OfType& change) {
        const TypeFacts& facts = *facts_.find(type);
        const std::string& name = name_of(type);
        const auto number = numbers_.find(type);
        const std::int32_t others = moved(facts);
        const auto made = made_.find(type);
        if (number != numbers_.end())
            change.wanted = number->second - others;
        else if (!change.removed.empty() || made != made_.end())
            change.wanted =
                ranks_without(type, change.removed) + (made == made_.end() ? 0 : made->second);
        if (change.wanted == facts.wanted) return {};
        const std::int32_t told = change.wanted + others;
        if (change.wanted < 1)
            return refused("spec", fmt::format("{} of {} is below the minimum of {}: suspend the "
                                               "job to stop it for a while",
                                               told, name, others + 1));
        if (!facts.written) return no_such_type(name, "spec");
        jobs::AskedReplicas& asked = order_.executed.replicas[name];
        asked.replicas.reset();
        asked.instead_of.reset();
        if (told != *facts.written) {
            asked.replicas = told;
            asked.instead_of = facts.written;
        }
        if (asked == jobs::AskedReplicas{}) order_.executed.replicas.erase(name);
        return {};
    }

    const JobRecord& job_;
    const JobFacts& facts_;
    JobMembersPtr members_;
    ScaleOrder order_;
    std::vector<Place> migrated_;  ///< in the plan's order
    std::map<std::uint8_t, NewPods> new_pods_;
    std::unordered_map<std::string, SlotId> by_name_;
    std::set<SlotId> changed_;
    std::map<std::uint8_t, std::int32_t> made_;     ///< how many, by type
    std::map<std::uint8_t, std::int32_t> numbers_;  ///< of the manifest, by type
};

}  // namespace

Result<ScaleOrder> order_of(const jobs::ScalePlanSpec& plan, std::string uid,
                            std::int64_t generation, const JobRecord& job,
                            const jobs::JobStatus& status) {
    JobMembersPtr members = members_of(*job.facts, status);
    if (members == nullptr)
        return refused("the job's status",
                       "the server drops its members: install the definitions of this version "
                       "with 'muster manifests --crds-only | kubectl apply -f -'");
    Result<ScaleOrder> order = OrderMaker(job, status, std::move(members)).make(plan);
    if (!order) return order;
    order->executed.uid = std::move(uid);
    order->executed.generation = generation;
    return order;
}

std::map<std::string, jobs::ReplicaMembers> members_after(const ScaleOrder& order,
                                                          const JobRecord& job,
                                                          const jobs::JobStatus& status) {
    std::map<std::string, jobs::ReplicaMembers> after = status.members;
    const JobMembersPtr members = members_of(*job.facts, status);
    if (members == nullptr) return after;
    for (const auto& [type, change] : order.types)
        after[job.facts->name_of(type)] =
            next_members((*members)[type], {.wanted = change.wanted,
                                            .removed = change.removed,
                                            .migrated = change.migrated,
                                            .own_resources = change.own_resources})
                .written();
    return after;
}

}  // namespace muster::operators
