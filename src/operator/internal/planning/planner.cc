#include "operator/internal/planning/planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>

#include "kube/values/time.h"
#include "operator/internal/integrations/integrations.h"
#include "operator/internal/planning/beside.h"
#include "operator/internal/planning/conditions.h"
#include "operator/internal/planning/job_outcome.h"
#include "operator/internal/planning/limits.h"
#include "operator/internal/planning/member_changes.h"
#include "operator/internal/planning/out_of_memory.h"
#include "operator/internal/planning/plan_execution.h"
#include "operator/internal/planning/pod_gate.h"
#include "operator/internal/planning/waiting.h"
#include "operator/internal/scaling/excluded_nodes.h"

namespace muster::operators {
namespace {

const ReplicaTotals kNoTotals;

class Planner {
  public:
    Planner(const JobRecord& job, const jobs::JobStatus& status, const Dependents& dependents,
            const Orphans& orphans, WallTime now, const IntegrationState& integrations,
            const ScaleOrder* order)
        : job_(job),
          facts_(*job.facts),
          before_(status),
          dependents_(dependents),
          orphans_(orphans),
          integrations_(integrations),
          order_(order),
          gate_(pod_gate(job, integrations)),
          draft_{.job = job, .status = status, .events = {}, .now = now} {}

    Plan run() {
        claim();
        if (before_.finished()) {
            clean_up();
            delete_integrations();
            expire();
            return std::move(plan_);
        }
        draft_.set(conditions::kCreated, true, "Created",
                   fmt::format("{} {} is created.", draft_.kind(), job_.name));
        note_first_members();
        const bool rests =
            facts_.suspend || (before_.is(conditions::kSuspended) && dependents_.has_pods());
        ensure_owned_objects(!rests);
        if (rests) requeue_after_pauses();
        if (facts_.suspend) {
            suspend();
        } else if (rests) {
            // Pods from before the suspension are removed first: while they are being deleted they
            // would count as failed replicas of the resumed job.
            erase_all();
        } else {
            resume();
            work();
        }
        compare();
        return std::move(plan_);
    }

  private:
    void compare() {
        if (!plan_.create_pods.empty())
            for (jobs::ExcludedNode& one : excluded_now(draft_.status.plan, draft_.now))
                plan_.excluded_nodes.push_back(std::move(one.node));
        plan_.events = std::move(draft_.events);
        const jobs::JobStatus& next = draft_.status;
        const bool same_but_counts = next.conditions == before_.conditions &&
                                     next.start_time == before_.start_time &&
                                     next.completion_time == before_.completion_time &&
                                     next.restart_generation == before_.restart_generation &&
                                     next.members == before_.members && next.plan == before_.plan;
        if (same_but_counts && next.replica_statuses == before_.replica_statuses) return;
        plan_.only_counts = same_but_counts && same_restarts();
        plan_.status = std::move(draft_.status);
    }
    bool same_restarts() const {
        return std::ranges::all_of(draft_.status.replica_statuses, [&](const auto& entry) {
            const auto before = before_.replica_statuses.find(entry.first);
            return before != before_.replica_statuses.end() &&
                   before->second.restarts == entry.second.restarts;
        });
    }

    // --- removals

    bool has_room() {
        const bool room = plan_.create_pods.size() + plan_.create_services.size() +
                              plan_.delete_pods.size() + plan_.delete_services.size() <
                          kWritesPerPlan;
        if (!room) plan_.more = true;
        return room;
    }
    bool erase(const PodRecord& pod) {
        if (dependents_.is_going(pod) || !has_room()) return false;
        plan_.delete_pods.push_back({pod.name, pod.uid, pod.slot});
        return true;
    }
    void erase(const ServiceRecord& service) {
        if (!dependents_.is_going(service) && has_room())
            plan_.delete_services.push_back({service.name, service.uid, service.slot});
    }
    void erase_others(const Slot& slot) {
        if (!slot.others) return;
        for (const PodPtr& pod : *slot.others) erase(*pod);
    }
    void erase_pods(const Slot& slot) {
        if (slot.pod) erase(*slot.pod);
        erase_others(slot);
    }
    void erase_pods() {
        dependents_.for_each_held([&](SlotId, const Slot& slot) { erase_pods(slot); });
    }
    void erase_all() {
        dependents_.for_each_held([&](SlotId, const Slot& slot) {
            erase_pods(slot);
            if (slot.service) erase(*slot.service);
        });
    }

    void clean_up() {
        if (facts_.clean == CleanPolicy::kAll) return erase_all();
        if (!stops_what_runs(facts_, before_, job_.name)) return erase_what_serves_nothing();
        dependents_.for_each_held([&](SlotId, const Slot& slot) {
            const bool ended = slot.pod && slot.pod->ended();
            if (slot.pod && !ended) erase(*slot.pod);
            if (slot.others)
                for (const PodPtr& pod : *slot.others)
                    if (!pod->ended()) erase(*pod);
            if (slot.service && !ended) erase(*slot.service);
        });
    }

    void erase_what_serves_nothing() {
        const IdleBeside idle = idle_beside(job_, before_, dependents_, draft_.now);
        for (const PodPtr& pod : idle.pods) erase(*pod);
        if (idle.look_at) requeue_no_later_than(*idle.look_at);
    }

    void expire() {
        const std::optional<WallTime> expiry = expiry_of(facts_, before_);
        if (!expiry) return;
        if (draft_.now >= *expiry)
            plan_.delete_job = true;
        else
            requeue_no_later_than(*expiry);
    }

    // --- ownership

    /// As Kubernetes' own controllers do (k8s.io/kubernetes pkg/controller,
    /// controller_ref_manager.go): objects without a controller whose labels name us are adopted;
    /// objects that we control and whose labels no longer name us are released.
    void claim() {
        const auto note = [](std::vector<Claim>& claims, const DependentRecord& object) {
            if (!object.deleting) claims.push_back({object.name, object.uid});
        };
        for (const PodPtr& pod : orphans_.pods)
            if (!pod->of_batch_job)
                note(plan_.adopt_pods, *pod);
            else if (!before_.finished() && !pod->deleting)
                plan_.end_batch_jobs_of.insert(pod->slot);
        for (const ServicePtr& service : orphans_.services) note(plan_.adopt_services, *service);
        for (const PodPtr& pod : dependents_.mismatched_pods()) note(plan_.release_pods, *pod);
        for (const ServicePtr& service : dependents_.mismatched_services())
            note(plan_.release_services, *service);
    }
    template <class Ptr>
    static bool is_adopted(const std::vector<Ptr>& orphans, SlotId slot) {
        return std::ranges::any_of(
            orphans, [&](const Ptr& object) { return object->slot == slot && !object->deleting; });
    }

    // --- owned objects

    void ensure_owned_objects(bool with_integrations) {
        if (with_integrations)
            ensure_integrations();
        else
            delete_integrations();
        const bool any = facts_.owns_objects || !plan_.ensure_integrations.empty();
        plan_.ensure_owned_objects = any && dependents_.owned_objects_due();
        if (plan_.ensure_owned_objects)
            pause_owned_objects();
        else
            plan_.ensure_integrations.clear();
        if (!with_integrations) tell_gate(nullptr);
    }

    void pause_owned_objects() {
        const OwnedObjectHistory* history = dependents_.known_owned_history();
        if (history == nullptr) return;
        const auto pause_of = [&](const OwnedObjectId& id, const FormerObject& former,
                                  std::optional<std::size_t> corrected_to) {
            const Pause pause = pause_after(former, draft_.now);
            plan_.owned_object_pauses.push_back(
                {id, pause.in_a_row, pause.length, pause.end.has_value(), corrected_to});
            if (pause.end) note_end(*pause.end);
        };
        for (const auto& [id, former] : history->former()) pause_of(id, former, {});
        for (const auto& [id, correction] : history->corrections())
            pause_of(id, correction.former, correction.content);
    }

    /// Reports what keeps pods from being made, and withdraws what no longer does.
    void tell_gate(const PodGate* gate) {
        if (gate != nullptr && gate->reason == PodGate::Reason::kUnknown) return;
        const std::string* obstacle = dependents_.obstacle();
        const auto stands_if = [&](bool is_so, std::string_view type) {
            if (!is_so) remove_condition(draft_.status, type);
            return is_so;
        };
        const bool missing = gate != nullptr && gate->reason == PodGate::Reason::kMissing;
        const bool queued = gate != nullptr && gate->reason == PodGate::Reason::kQueued;
        if (stands_if(obstacle != nullptr || missing, conditions::kBlocked)) {
            if (obstacle != nullptr)
                draft_.set(conditions::kBlocked, true, "Blocked", *obstacle);
            else if (draft_.set(conditions::kBlocked, true, "PodGroupMissing", gate->message))
                draft_.tell(kube::EventType::kWarning, "PodGroupMissing", gate->message);
        }
        if (stands_if(queued && obstacle == nullptr, conditions::kQueued) &&
            draft_.set(conditions::kQueued, true, "Queued", gate->message))
            draft_.tell(kube::EventType::kNormal, "Queued", gate->message);
    }

    // --- integrations

    void ensure_integrations() {
        for (const IntegrationObject& seen : integrations_.objects) {
            // No pod waits for an autoscaler: one that can't be read is requested, and the job's
            // events report the result.
            const bool is_asked =
                seen.knowledge == Knowledge::kCurrent ||
                (seen.knowledge == Knowledge::kRefused && !is_pod_group(seen.desired.type));
            if (!seen.desired.wanted)
                delete_integration(seen);
            else if (is_asked)
                plan_.ensure_integrations.push_back(seen.desired.type);
        }
    }
    void delete_integrations() {
        for (const IntegrationObject& seen : integrations_.objects) delete_integration(seen);
    }
    void delete_integration(const IntegrationObject& seen) {
        if (seen.object && !seen.object->deleting)
            plan_.delete_integrations.push_back({seen.desired.type, seen.object->uid});
    }

    // --- suspension

    void begin() { draft_.status.start_time = kube::format_time(whole_second_from(draft_.now)); }

    void suspend() {
        erase_all();
        for (auto& [type, counts] : draft_.status.replica_statuses) {
            counts.active.reset();
            counts.completed_indexes.clear();
        }
        remove_condition(draft_.status, conditions::kPending);
        remove_condition(draft_.status, conditions::kIncomplete);
        // A user who resumes it does not want to wait.
        draft_.status.restarts_in_a_row.reset();
        draft_.status.last_restart_time.clear();
        std::string message = fmt::format("{} {} is suspended.", draft_.kind(), job_.name);
        // This also clears Restarting: a suspended job does neither.
        if (draft_.status.is(conditions::kRunning) || draft_.status.is(conditions::kRestarting))
            draft_.set(conditions::kRunning, false, "Suspended", message);
        if (draft_.set(conditions::kSuspended, true, "Suspended", message))
            draft_.tell(kube::EventType::kNormal, "Suspended", std::move(message));
    }

    void resume() {
        if (!draft_.status.is(conditions::kSuspended)) return;
        std::string message = fmt::format("{} {} is resumed.", draft_.kind(), job_.name);
        draft_.set(conditions::kSuspended, false, "Resumed", message);
        draft_.tell(kube::EventType::kNormal, "Resumed", std::move(message));
        begin();
    }

    // --- creations

    void work() {
        std::vector<ReplicaTypeState> states;
        states.reserve(facts_.types.size());
        for (const TypeFacts& type : facts_.types) states.push_back(look_at(type));
        const bool waits_for_the_old = std::ranges::any_of(
            states, [](const ReplicaTypeState& state) { return state.totals.outdated > 0; });
        const std::optional<WallTime> pause = end_of_pause(before_, draft_.now);
        for (ReplicaTypeState& state : states) state.waits = !may_start(state, states);
        const bool gated = gate_ && std::ranges::any_of(states, [&](const ReplicaTypeState& state) {
                               return lacks_pods(state);
                           });
        tell_gate(gated ? &*gate_ : nullptr);
        // Time in a queue does not count.
        if (draft_.status.start_time.empty() && !gated) begin();
        for (ReplicaTypeState& state : states) {
            if (!waits_for_the_old && !pause && !gated) create_pods(state);
            create_services(state);
            remove(state);
        }
        remove_surplus();
        const bool executes = change_members(states);
        if (std::ranges::any_of(states, [](const auto& state) { return state.totals.lapsed > 0; }))
            raise_memory_of_all(states);
        const PendingDecision pending =
            look_at_waiting(states, job_, before_, dependents_, draft_.now);
        const JobOutcome outcome =
            evaluate(of_the_job(*job_.kind, states), before_, pending, draft_, plan_.requeue_at);
        if (outcome == JobOutcome::kContinues) {
            if (executes) tell_executed(*order_, before_, draft_);
            if (pending.look_at) requeue_no_later_than(*pending.look_at);
            if (pause) requeue_no_later_than(*pause);
            requeue_after_pauses();
            return;
        }
        // A new generation has the members of the one before, perhaps with more memory.
        for (const ReplicaTypeState& state : states)
            if (state.members)
                draft_.status.members[state.name] =
                    (outcome == JobOutcome::kNewGeneration ? with_own_resources(state)
                                                           : *state.members)
                        .written();
        draft_.status.plan = before_.plan;
        // Nothing is made or removed before the end is recorded: the next plan cleans up from the
        // status. Nor is a pod of a new generation made before the last of the old one is gone, as
        // it would find its old peers.
        forget_writes();
        if (outcome == JobOutcome::kFinished)
            plan_.requeue_at.reset();
        else
            erase_pods();
    }
    void requeue_no_later_than(WallTime time) {
        plan_.requeue_at = plan_.requeue_at ? std::min(*plan_.requeue_at, time) : time;
    }
    void requeue_after_pauses() {
        if (first_to_follow_) requeue_no_later_than(*first_to_follow_);
    }
    void forget_writes() {
        plan_.create_pods.clear();
        plan_.create_services.clear();
        plan_.delete_pods.clear();
        plan_.delete_services.clear();
        plan_.more = false;
    }

    ReplicaTypeState look_at(const TypeFacts& type) const {
        const Dependents::OfType* of_type = dependents_.of(type.type);
        const ReplicaTotals& totals = of_type == nullptr ? kNoTotals : of_type->totals;
        ReplicaTypeState state{.facts = type,
                               .name = facts_.name_of(type.type),
                               .totals = totals,
                               .counts = {},
                               .done = totals.succeeded,
                               .members = dependents_.members(type.type)};
        state.restarts = totals.restarts;
        if (const auto recorded = before_.replica_statuses.find(state.name);
            recorded != before_.replica_statuses.end()) {
            state.restarts = std::max(state.restarts, recorded->second.restarts.value_or(0));
            const std::string& completed = recorded->second.completed_indexes;
            if (!completed.empty()) {
                const IndexSet known =
                    IndexSet::parse(completed, state.members ? state.members->next() : type.wanted);
                for (auto i = known.next(0); i >= 0; i = known.next(i + 1))
                    if (dependents_.wants({type.type, i})) state.done.insert(i);
            }
        }
        state.counts = {.wanted = type.wanted,
                        .active = totals.active,
                        .succeeded = state.done.size(),
                        .failed = totals.failed,
                        .first_succeeded = state.done.contains(0)};
        if (state.members) count_ranks(state, *state.members);
        return state;
    }

    // --- members, of kinds whose ids rise

    /// From the first status on, so that one without them tells that the server does not keep them.
    void note_first_members() {
        for (const TypeFacts& type : facts_.types)
            if (const Members* members = dependents_.members(type.type))
                if (!draft_.status.members.contains(facts_.name_of(type.type)))
                    draft_.status.members[facts_.name_of(type.type)] =
                        first_members(*members, dependents_.of(type.type)).written();
    }
    /// True if a ScalePlan is executed: the status then has it and the members that it leads to.
    bool change_members(std::vector<ReplicaTypeState>& states) {
        MemoryRaises memory(job_, states, dependents_);
        bool raises = false;
        for (ReplicaTypeState& state : states) {
            memory.raise(state, state.replaced);
            raises |= !state.own_resources.empty();
        }
        // The plan was checked against what all requested before.
        const bool executes = order_ && !raises && may_execute(*order_, states, dependents_);
        const jobs::ExecutedPlan* plan = executes       ? &order_->executed
                                         : before_.plan ? &*before_.plan
                                                        : nullptr;
        for (ReplicaTypeState& state : states)
            if (state.members)
                change_members(state, executes ? order_->of(state.facts.type) : nullptr,
                               spares_of(plan, state.name));
        if (executes)
            draft_.status.plan = order_->executed;
        else if (draft_.status.plan)
            // What the manifest has by now is no longer asked.
            draft_.status.plan->replicas = asked_of(facts_, draft_.status);
        return executes;
    }
    /// The members change in the status first; what follows from that is the next plan's.
    void change_members(ReplicaTypeState& state, const ScaleOrder::OfType* asked,
                        std::string_view spares) {
        const std::optional<Members> next =
            changed_members(state, facts_, dependents_, asked, spares);
        if (!next) return state.told_of_memory.clear();
        draft_.status.members[state.name] = next->written();
        plan_.more = true;
        count_ranks(state, *next);
        const auto leaves = [&](const auto& creation) {
            return creation.slot.type == state.facts.type && !next->contains(creation.slot.index);
        };
        std::erase_if(plan_.create_pods, leaves);
        std::erase_if(plan_.create_services, leaves);
    }
    /// All pods restart, so that none is replaced.
    void raise_memory_of_all(std::vector<ReplicaTypeState>& states) {
        MemoryRaises memory(job_, states, dependents_);
        for (ReplicaTypeState& state : states) {
            state.told_of_memory.clear();
            memory.raise_all_failed(state);
        }
    }
    kube::ResourceList own_of(const ReplicaTypeState& state, std::int32_t id) const {
        if (state.members == nullptr) return {};
        return own_amounts(facts_, state.facts.type, *state.members, state.members->rank_of(id));
    }
    static std::optional<std::int32_t> kept_rank(const ReplicaTypeState& state, std::int32_t id) {
        return state.members ? state.members->kept_rank(id) : std::nullopt;
    }

    const Slot& slot(const ReplicaTypeState& state, std::int32_t index) const {
        return dependents_.of(state.facts.type)->slots[static_cast<std::size_t>(index)];
    }

    /// False while it waits for replicas of another type. Those that are done block nothing.
    static bool may_start(const ReplicaTypeState& state, std::span<const ReplicaTypeState> all) {
        if (!state.facts.after) return true;
        const auto first = std::ranges::find_if(all, [&](const ReplicaTypeState& other) {
            return other.facts.type == *state.facts.after;
        });
        return first == all.end() ||
               first->totals.ready + first->done.size() >= first->counts.wanted;
    }

    /// Calls f with the index of each pod to make, until it returns false.
    template <class F>
    void for_each_lacking(const ReplicaTypeState& state, F f) const {
        if (state.waits) return;
        const IndexSet& vacant = state.totals.vacant;
        for (auto i = vacant.next(0); i >= 0; i = vacant.next(i + 1)) {
            const SlotId id{state.facts.type, i};
            if (!state.done.contains(i) && !is_adopted(orphans_.pods, id) && !f(id)) return;
        }
    }
    bool lacks_pods(const ReplicaTypeState& state) const {
        bool any = false;
        for_each_lacking(state, [&](SlotId) { return !(any = true); });
        return any;
    }
    /// Whether a pod may follow that one now; notes when, if not.
    bool may_follow_now(ReplicaTypeState& state, std::int32_t index, const Pause& pause) {
        if (!pause.end) return true;
        if (state.longest_pause.length < pause.length) {
            state.longest_pause = pause;
            state.pauses = index;
        }
        note_end(*pause.end);
        return false;
    }
    void note_end(WallTime of_pause) {
        first_to_follow_ = first_to_follow_ ? std::min(*first_to_follow_, of_pause) : of_pause;
    }
    void create_pods(ReplicaTypeState& state) {
        std::set<std::int32_t> held;
        if (state.members) held = ranks_still_held(state, dependents_);
        for_each_lacking(state, [&](SlotId id) {
            const std::int32_t i = id.index;
            const Slot& at = slot(state, i);
            const Pause pause = at.former ? pause_after(*at.former, draft_.now) : Pause{};
            if (!may_follow_now(state, i, pause)) return true;
            // A name that had a pod is not used again.
            if (state.members && at.former && !at.former->id_unused &&
                state.members->may_replace()) {
                state.replaced.push_back(i);
                return true;
            }
            if (state.members && held.contains(state.members->rank_of(i))) return true;
            if (!has_room()) return false;
            plan_.create_pods.push_back({id,
                                         {.restarts = at.carried,
                                          .generation = before_.restart_generation.value_or(0),
                                          .in_a_row = pause.in_a_row},
                                         kept_rank(state, i),
                                         own_of(state, i)});
            // A replica's service is created next to its pod, so that the name resolves when the
            // process starts.
            if (state.totals.unserved.contains(i)) create_service(state, id);
            return true;
        });
    }
    void create_services(const ReplicaTypeState& state) {
        const IndexSet& unserved = state.totals.unserved;
        for (auto i = unserved.next(0); i >= 0; i = unserved.next(i + 1)) {
            // Created with its pod, above; a replica that is done and gone needs none.
            if (state.totals.vacant.contains(i) || !slot(state, i).pod) continue;
            if (!has_room()) return;
            create_service(state, {state.facts.type, i});
        }
    }
    void create_service(const ReplicaTypeState& state, SlotId id) {
        if (!state.facts.services || is_adopted(orphans_.services, id)) return;
        const Slot& at = slot(state, id.index);
        const Pause pause =
            at.former_service ? pause_after(*at.former_service, draft_.now) : Pause{};
        if (pause.end)
            note_end(*pause.end);
        else
            plan_.create_services.push_back({id, pause.in_a_row, kept_rank(state, id.index)});
    }

    /// Removes failed pods that are replaced, those of an older generation, and second pods of a
    /// replica. A failed one stays until its successor may be made: it shows what happened, and
    /// any operator when.
    void remove(ReplicaTypeState& state) {
        const IndexSet& replace = state.totals.replace;
        for (auto i = replace.next(0); i >= 0; i = replace.next(i + 1)) {
            const PodRecord& pod = *slot(state, i).pod;
            const bool failed =
                pod.phase == PodPhase::kFailed &&
                pod.restart_history.generation >= before_.restart_generation.value_or(0);
            if (failed && !may_follow_now(state, i, pause_after(former(pod), draft_.now))) continue;
            if (failed && state.members && state.members->may_replace()) {
                state.replaced.push_back(i);
                state.newly = true;
                continue;
            }
            if (erase(pod) && failed) state.newly = true;
        }
        const IndexSet& doubled = state.totals.doubled;
        for (auto i = doubled.next(0); i >= 0; i = doubled.next(i + 1))
            if (dependents_.wants({state.facts.type, i})) erase_others(slot(state, i));
    }

    /// Removes replicas beyond the wanted number, and of types that the spec no longer has.
    void remove_surplus() {
        for (std::size_t type = 0; type < job_.kind->replica_types.size(); ++type) {
            const Dependents::OfType* of_type = dependents_.of(static_cast<std::uint8_t>(type));
            if (of_type == nullptr) continue;
            const IndexSet& surplus = of_type->totals.surplus;
            for (auto i = surplus.next(0); i >= 0; i = surplus.next(i + 1)) {
                const Slot& slot = of_type->slots[static_cast<std::size_t>(i)];
                erase_pods(slot);
                if (slot.service) erase(*slot.service);
            }
        }
    }

    const JobRecord& job_;
    const JobFacts& facts_;
    const jobs::JobStatus& before_;
    const Dependents& dependents_;
    const Orphans& orphans_;
    const IntegrationState& integrations_;
    const ScaleOrder* order_;  ///< null: no plan is to be executed
    std::optional<PodGate> gate_;
    Draft draft_;
    Plan plan_;
    std::optional<WallTime> first_to_follow_;  ///< of what pauses
};

}  // namespace

Plan plan(const JobRecord& job, const jobs::JobStatus& status, const Dependents& dependents,
          const Orphans& orphans, WallTime now, const IntegrationState& integrations,
          const ScaleOrder* order) {
    return Planner(job, status, dependents, orphans, now, integrations, order).run();
}

}  // namespace muster::operators
