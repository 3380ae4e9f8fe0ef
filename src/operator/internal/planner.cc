#include "operator/internal/planner.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "kube/selector.h"
#include "kube/time.h"
#include "operator/internal/conditions.h"
#include "operator/internal/limits.h"
#include "operator/internal/states.h"

namespace muster::operators {
namespace {

const Tally kNothing;

/// What the pods of one replica type show.
struct TypeFindings {
    const TypeFacts& type;
    const std::string& name;
    const Tally& tally;
    jobs::ReplicaCounts counts;
    IndexSet done;  ///< replicas that have succeeded, whether their pods are still there or not
    std::int32_t restarts = 0;
    bool newly = false;  ///< the removal of a failed pod begins now
};

class Planner {
  public:
    Planner(const JobRecord& job, const jobs::JobStatus& status, const Dependents& dependents,
            const Orphans& orphans, WallTime now)
        : job_(job),
          facts_(*job.facts),
          before_(status),
          status_(status),
          dependents_(dependents),
          orphans_(orphans),
          now_(now) {}

    Plan run() {
        claim();
        if (before_.finished()) {
            clean_up();
            expire();
            return std::move(plan_);
        }
        set(conditions::kCreated, true, "Created",
            fmt::format("{} {} is created.", kind(), job_.name));
        if (facts_.suspend) {
            suspend();
        } else if (before_.is(conditions::kSuspended) && dependents_.has_pods()) {
            // The pods of before the suspension go first: on their way out they would count as
            // failed replicas of the resumed job.
            erase_all();
        } else {
            resume();
            if (status_.start_time.empty()) begin();
            work();
        }
        compare();
        return std::move(plan_);
    }

  private:
    const std::string& kind() const { return job_.kind->resource.kind; }
    std::string reason(std::string_view suffix) const { return kind() + std::string(suffix); }

    bool set(std::string_view type, bool value, std::string_view suffix, std::string message) {
        return set_condition(status_,
                             {.type = type,
                              .status = value,
                              .reason = reason(suffix),
                              .message = std::move(message)},
                             now_);
    }
    void tell(kube::EventType type, std::string_view suffix, std::string message) {
        plan_.events.push_back({type, reason(suffix), std::move(message)});
    }

    void compare() {
        const bool same_but_counts = status_.conditions == before_.conditions &&
                                     status_.start_time == before_.start_time &&
                                     status_.completion_time == before_.completion_time &&
                                     status_.restart_generation == before_.restart_generation;
        if (same_but_counts && status_.replica_statuses == before_.replica_statuses) return;
        plan_.only_counts = same_but_counts && same_restarts();
        CHECK(may_follow(state_of(before_), state_of(status_)),
              "a plan keeps to the table of states");
        plan_.status = std::move(status_);
    }
    bool same_restarts() const {
        return std::ranges::all_of(status_.replica_statuses, [&](const auto& entry) {
            const auto before = before_.replica_statuses.find(entry.first);
            return before != before_.replica_statuses.end() &&
                   before->second.restarts == entry.second.restarts;
        });
    }

    // --- what goes

    bool has_room() {
        const bool room = plan_.create_pods.size() + plan_.create_services.size() +
                              plan_.delete_pods.size() + plan_.delete_services.size() <
                          kWritesPerPass;
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
    void erase_all() {
        dependents_.for_each_held([&](SlotId, const Slot& slot) {
            if (slot.pod) erase(*slot.pod);
            erase_others(slot);
            if (slot.service) erase(*slot.service);
        });
    }

    void clean_up() {
        const bool stop_all_that_runs =
            facts_.clean == CleanPolicy::kRunning || ended_by_limit(before_, job_.name);
        if (facts_.clean == CleanPolicy::kAll) return erase_all();
        if (!stop_all_that_runs) return;
        dependents_.for_each_held([&](SlotId, const Slot& slot) {
            const bool ended = slot.pod && slot.pod->ended();
            if (slot.pod && !ended) erase(*slot.pod);
            if (slot.others)
                for (const PodPtr& pod : *slot.others)
                    if (!pod->ended()) erase(*pod);
            if (slot.service && !ended) erase(*slot.service);
        });
    }

    void expire() {
        const std::optional<WallTime> expiry = expiry_of(facts_, before_);
        if (!expiry) return;
        if (now_ >= *expiry)
            plan_.delete_job = true;
        else
            look_again(*expiry);
    }
    void look_again(WallTime when) {
        plan_.look_again = std::min(plan_.look_again.value_or(when), when);
    }

    // --- whose is what

    /// As Kubernetes' own controllers do (k8s.io/kubernetes pkg/controller,
    /// controller_ref_manager.go): what nobody controls and our labels name is adopted, what we
    /// control and our labels no longer name is let go.
    void claim() {
        const auto note = [](std::vector<Claim>& claims, const DependentRecord& object) {
            if (!object.deleting) claims.push_back({object.name, object.uid});
        };
        for (const PodPtr& pod : orphans_.pods) note(plan_.adopt_pods, *pod);
        for (const ServicePtr& service : orphans_.services) note(plan_.adopt_services, *service);
        for (const PodPtr& pod : dependents_.astray_pods()) note(plan_.release_pods, *pod);
        for (const ServicePtr& service : dependents_.astray_services())
            note(plan_.release_services, *service);
    }
    template <class Ptr>
    static bool is_adopted(const std::vector<Ptr>& orphans, SlotId slot) {
        return std::ranges::any_of(
            orphans, [&](const Ptr& object) { return object->slot == slot && !object->deleting; });
    }

    // --- suspension

    void begin() { status_.start_time = kube::format_time(now_); }

    void suspend() {
        erase_all();
        for (auto& [type, counts] : status_.replica_statuses) {
            counts.active.reset();
            counts.completed_indexes.clear();
        }
        std::string message = fmt::format("{} {} is suspended.", kind(), job_.name);
        // This takes a Restarting away, too: a suspended job does neither.
        if (status_.is(conditions::kRunning) || status_.is(conditions::kRestarting))
            set(conditions::kRunning, false, "Suspended", message);
        if (set(conditions::kSuspended, true, "Suspended", message))
            tell(kube::EventType::kNormal, "Suspended", std::move(message));
    }

    void resume() {
        if (!status_.is(conditions::kSuspended)) return;
        std::string message = fmt::format("{} {} is resumed.", kind(), job_.name);
        set(conditions::kSuspended, false, "Resumed", message);
        tell(kube::EventType::kNormal, "Resumed", std::move(message));
        begin();
    }

    // --- the work

    void work() {
        std::vector<TypeFindings> findings;
        findings.reserve(facts_.types.size());
        for (const TypeFacts& type : facts_.types) findings.push_back(look_at(type));
        const bool waits_for_the_old = std::ranges::any_of(
            findings, [](const TypeFindings& found) { return found.tally.outdated > 0; });
        for (TypeFindings& found : findings) {
            if (!waits_for_the_old) create_pods(found);
            create_services(found);
            remove(found);
        }
        remove_surplus();
        judge(findings);
    }

    TypeFindings look_at(const TypeFacts& type) const {
        const Dependents::OfType* of_type = dependents_.of(type.type);
        const Tally& tally = of_type == nullptr ? kNothing : of_type->tally;
        TypeFindings found{.type = type,
                           .name = facts_.name_of(type.type),
                           .tally = tally,
                           .counts = {},
                           .done = tally.succeeded};
        found.restarts = tally.restarts;
        if (const auto recorded = before_.replica_statuses.find(found.name);
            recorded != before_.replica_statuses.end()) {
            found.restarts = std::max(found.restarts, recorded->second.restarts.value_or(0));
            const std::string& completed = recorded->second.completed_indexes;
            if (!completed.empty() && !before_.is(conditions::kSuspended)) {
                const IndexSet known = IndexSet::parse(completed, type.wanted);
                for (auto i = known.next(0); i >= 0; i = known.next(i + 1)) found.done.insert(i);
            }
        }
        found.counts = {.wanted = type.wanted,
                        .active = tally.active,
                        .succeeded = found.done.size(),
                        .failed = tally.failed,
                        .first_succeeded = found.done.contains(0)};
        return found;
    }

    const Slot& slot(const TypeFindings& found, std::int32_t index) const {
        return dependents_.of(found.type.type)->slots[static_cast<std::size_t>(index)];
    }

    void create_pods(const TypeFindings& found) {
        const IndexSet& vacant = found.tally.vacant;
        for (auto i = vacant.next(0); i >= 0; i = vacant.next(i + 1)) {
            const SlotId id{found.type.type, i};
            if (found.done.contains(i) || is_adopted(orphans_.pods, id)) continue;
            if (!has_room()) return;
            plan_.create_pods.push_back({id,
                                         {.restarts = slot(found, i).carried,
                                          .generation = before_.restart_generation.value_or(0)}});
            // A replica's service goes next to its pod, so that the name resolves when the process
            // starts.
            if (found.tally.unserved.contains(i)) create_service(id);
        }
    }
    void create_services(const TypeFindings& found) {
        const IndexSet& unserved = found.tally.unserved;
        for (auto i = unserved.next(0); i >= 0; i = unserved.next(i + 1)) {
            // With its pod, above; and none for a replica that is done and gone.
            if (found.tally.vacant.contains(i) || !slot(found, i).pod) continue;
            if (!has_room()) return;
            create_service({found.type.type, i});
        }
    }
    void create_service(SlotId id) {
        if (job_.kind->services && !is_adopted(orphans_.services, id))
            plan_.create_services.push_back(id);
    }

    /// Failed pods that are replaced, those of an older generation, and second pods of a replica.
    void remove(TypeFindings& found) {
        const IndexSet& replace = found.tally.replace;
        for (auto i = replace.next(0); i >= 0; i = replace.next(i + 1)) {
            const PodRecord& pod = *slot(found, i).pod;
            const bool failed = pod.phase == PodPhase::kFailed &&
                                pod.lineage.generation >= before_.restart_generation.value_or(0);
            if (erase(pod) && failed) found.newly = true;
        }
        const IndexSet& doubled = found.tally.doubled;
        for (auto i = doubled.next(0); i >= 0 && i < found.type.wanted; i = doubled.next(i + 1))
            erase_others(slot(found, i));
    }

    /// Replicas beyond the wanted number, and of types that the spec no longer has.
    void remove_surplus() {
        for (std::size_t type = 0; type < job_.kind->replica_types.size(); ++type) {
            const Dependents::OfType* of_type = dependents_.of(static_cast<std::uint8_t>(type));
            if (of_type == nullptr) continue;
            const IndexSet& surplus = of_type->tally.surplus;
            for (auto i = surplus.next(0); i >= 0; i = surplus.next(i + 1)) {
                const Slot& slot = of_type->slots[static_cast<std::size_t>(i)];
                if (slot.pod) erase(*slot.pod);
                erase_others(slot);
                if (slot.service) erase(*slot.service);
            }
        }
    }

    // --- the verdict

    /// The replicas that decide come first: when they are done, nothing else matters any more. A
    /// final failure outranks a limit, a limit a restart, and a restart that the job runs.
    void judge(const std::vector<TypeFindings>& findings) {
        status_.replica_statuses.clear();
        jobs::ReplicaCounts deciding;
        std::int32_t restarts = before_.restart_generation.value_or(0);
        const TypeFindings* lapsed = nullptr;
        for (const TypeFindings& found : findings) {
            status_.replica_statuses[found.name] = replica_status(found);
            if (found.type.type == facts_.deciders.type) deciding = found.counts;
            restarts += found.restarts;
            if (lapsed == nullptr && found.tally.lapsed > 0) lapsed = &found;
        }
        if (lapsed != nullptr) ++restarts;

        jobs::Verdict verdict =
            jobs::judge(*job_.kind, facts_.deciders, job_.namespace_, job_.name, deciding);
        if (verdict.outcome == jobs::Outcome::kSucceeded) return succeed(verdict.message);
        for (const TypeFindings& found : findings)
            if (found.tally.lost > 0) return fail(found);
        if (const std::optional<WallTime> deadline = deadline_of(facts_, status_)) {
            if (now_ >= *deadline) return fail_by_limit(deadline_message(job_.name));
            look_again(*deadline);
        }
        if (past_backoff_limit(facts_.backoff_limit, restarts))
            return fail_by_limit(backoff_message(job_.name));
        if (lapsed != nullptr) return restart_group(*lapsed);
        bool restarting = false;
        for (const TypeFindings& found : findings) {
            if (found.counts.failed == 0) continue;
            restarting = true;
            restart(found);
        }
        if (!restarting && verdict.outcome == jobs::Outcome::kRunning)
            set(conditions::kRunning, true, "Running", std::move(verdict.message));
    }

    jobs::ReplicaStatus replica_status(const TypeFindings& found) const {
        jobs::ReplicaStatus status;
        const jobs::ReplicaCounts& counts = found.counts;
        if (counts.active > 0) status.active = counts.active;
        if (counts.succeeded > 0) status.succeeded = counts.succeeded;
        if (counts.failed > 0) status.failed = counts.failed;
        if (found.restarts > 0) status.restarts = found.restarts;
        if (counts.succeeded > 0 && counts.succeeded < counts.wanted)
            status.completed_indexes = found.done.to_string();
        if (job_.kind->status_selector) {
            std::map<std::string, std::string> labels = jobs::job_labels(*job_.kind, job_.name);
            labels[std::string(jobs::labels::kReplicaType)] =
                job_.kind->replica_types[found.type.type].lower();
            status.selector = kube::LabelSelector::from_map(labels).to_string();
        }
        return status;
    }

    /// Nothing is made, and nothing removed, before the end is on record: the next pass cleans up
    /// from the status.
    void end() {
        status_.completion_time = kube::format_time(now_);
        for (auto& [type, counts] : status_.replica_statuses) counts.completed_indexes.clear();
        forget_objects();
        plan_.look_again.reset();
    }
    void forget_objects() {
        plan_.create_pods.clear();
        plan_.create_services.clear();
        plan_.delete_pods.clear();
        plan_.delete_services.clear();
        plan_.more = false;
    }

    void succeed(std::string message) {
        set(conditions::kSucceeded, true, "Succeeded", message);
        tell(kube::EventType::kNormal, "Succeeded", std::move(message));
        for (auto& [type, counts] : status_.replica_statuses) {
            const std::int32_t all = counts.succeeded.value_or(0) + counts.active.value_or(0);
            if (all > 0) counts.succeeded = all;
            counts.active.reset();
        }
        end();
    }

    void fail(const TypeFindings& found) {
        const bool never = found.type.policy == RestartPolicy::kNever;
        std::string message =
            never ? fmt::format("{} {} is failed because {} {} replica(s) failed.", kind(),
                                job_.name, found.counts.failed, found.name)
                  : fmt::format("job \"{}\" is failing because \"{}\" replica(s) failed.",
                                job_.name, found.name);
        set(conditions::kFailed, true, "Failed", message);
        tell(never ? kube::EventType::kNormal : kube::EventType::kWarning, "Failed",
             std::move(message));
        end();
    }

    void fail_by_limit(std::string message) {
        set(conditions::kFailed, true, "Failed", message);
        tell(kube::EventType::kNormal, "Failed", std::move(message));
        end();
    }

    void restart(const TypeFindings& found) {
        std::string message =
            found.tally.replacing > 0
                ? fmt::format("job {} is restarting because {} replica(s) failed.", job_.name,
                              found.name)
                : fmt::format("{} {} is restarting because {} {} replica(s) failed.", kind(),
                              job_.name, found.counts.failed, found.name);
        const bool changed = set(conditions::kRestarting, true, "Restarting", message);
        if (changed || found.newly)
            tell(kube::EventType::kWarning, "Restarting", std::move(message));
    }

    /// A new generation: all pods go, and none is made before the last of them is gone, for the new
    /// ones would find their old peers.
    void restart_group(const TypeFindings& found) {
        const std::int32_t generation = before_.restart_generation.value_or(0) + 1;
        status_.restart_generation = generation;
        for (auto& [type, counts] : status_.replica_statuses) counts.completed_indexes.clear();
        forget_objects();
        dependents_.for_each_held([&](SlotId, const Slot& slot) {
            if (slot.pod) erase(*slot.pod);
            erase_others(slot);
        });
        std::string message = fmt::format(
            "job {} is restarting because {} replica(s) failed. All of its pods restart "
            "together, for the {}. time.",
            job_.name, found.name, generation);
        set(conditions::kRestarting, true, "Restarting", message);
        tell(kube::EventType::kWarning, "Restarting", std::move(message));
    }

    const JobRecord& job_;
    const JobFacts& facts_;
    const jobs::JobStatus& before_;
    jobs::JobStatus status_;
    const Dependents& dependents_;
    const Orphans& orphans_;
    WallTime now_;
    Plan plan_;
};

}  // namespace

Plan plan(const JobRecord& job, const jobs::JobStatus& status, const Dependents& dependents,
          const Orphans& orphans, WallTime now) {
    return Planner(job, status, dependents, orphans, now).run();
}

}  // namespace muster::operators
