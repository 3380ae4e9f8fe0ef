#include "workloads/internal/deployments/deployment_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/time/bounded_seconds.h"
#include "kube/values/document.h"
#include "kube/values/json_access.h"
#include "kube/values/time.h"
#include "workloads/internal/deployments/deployment_conditions.h"
#include "workloads/internal/deployments/rollout_limits.h"
#include "workloads/internal/deployments/rollout_revision.h"
#include "workloads/internal/deployments/rollout_set.h"

namespace muster::workloads {

namespace {

constexpr std::string_view kProgressing = "Progressing";
constexpr std::string_view kComplete = "NewReplicaSetAvailable";
constexpr std::string_view kTimedOut = "ProgressDeadlineExceeded";
constexpr std::string_view kPaused = "DeploymentPaused";
constexpr std::int64_t kNoDeadline = 2147483647;

class DeploymentPlanner {
  public:
    DeploymentPlanner(DeploymentFacts facts, WallTime now)
        : deployment_(facts.deployment),
          spec_(kube::child(deployment_, "spec")),
          before_(kube::child(deployment_, "status")),
          running_(std::move(facts.running)),
          now_(now),
          replicas_(kube::int_at(spec_, "replicas").value_or(1)),
          limits_(rollout_limits(spec_, replicas_)),
          deadline_(kube::int_at(spec_, "progressDeadlineSeconds")) {
        if (deadline_ == kNoDeadline) deadline_.reset();
        plan_.status = before_;
        for (json::object& set : facts.sets) sets_.emplace_back(std::move(set));
        std::ranges::sort(sets_, [](const RolloutSet& a, const RolloutSet& b) {
            return a.created() != b.created() ? a.created() < b.created() : a.name() < b.name();
        });
        for (RolloutSet& set : sets_) {
            const json::object& template_ =
                kube::child(kube::child(set.object(), "spec"), "template");
            if (new_ == nullptr && same_template(template_, kube::child(spec_, "template")))
                new_ = &set;
            else
                old_.push_back(&set);
        }
    }

    DeploymentPlan plan();

  private:
    bool rolling() const {
        return kube::string_at(kube::child(spec_, "strategy"), "type") != "Recreate";
    }
    std::int64_t sum(std::int64_t (RolloutSet::*of)() const) const {
        std::int64_t all = 0;
        for (const RolloutSet& set : sets_) all += (set.*of)();
        return all;
    }
    std::int64_t count(const json::object& status, std::string_view key) const {
        return kube::int_at(status, key).value_or(0);
    }
    std::vector<RolloutSet*> active() {
        std::vector<RolloutSet*> found;
        for (RolloutSet& set : sets_)
            if (set.replicas() > 0) found.push_back(&set);
        return found;
    }
    std::string subject() const {
        if (new_ != nullptr) return fmt::format("ReplicaSet \"{}\"", new_->name());
        return fmt::format("Deployment \"{}\"", kube::name_of(deployment_));
    }

    void note_pause();
    void sync_revision();
    bool is_scaled();
    void scale(RolloutSet& set, std::int64_t replicas);
    void scale_all();
    void scale_proportionally();
    void roll();
    bool shrink_old();
    std::int64_t drop_unhealthy(std::int64_t most);
    void recreate();
    bool old_pods_run() const;
    void create();
    std::int64_t next_size(std::int64_t present) const;
    void trim_history();
    void write_counts();
    void note_progress();
    void note_failures();
    bool complete(const json::object& status) const;
    bool progresses() const;
    bool timed_out() const;
    void come_back();

    const json::object& deployment_;
    const json::object& spec_;
    const json::object& before_;
    const std::map<std::string, std::int64_t, std::less<>> running_;
    const WallTime now_;
    const std::int64_t replicas_;
    const RolloutLimits limits_;
    std::optional<std::int64_t> deadline_;
    DeploymentPlan plan_;
    std::vector<RolloutSet> sets_;  ///< oldest first
    RolloutSet* new_ = nullptr;     ///< the one of the present template
    std::vector<RolloutSet*> old_;  ///< all others, oldest first
};

/// A rollout that was paused is not late when it continues.
void DeploymentPlanner::note_pause() {
    const json::object* known = condition_of(plan_.status, kProgressing);
    const std::string_view reason = known == nullptr ? "" : kube::string_at(*known, "reason");
    if (!deadline_ || reason == kTimedOut) return;
    const bool paused = kube::bool_at(spec_, "paused");
    if (paused && reason != kPaused)
        set_deployment_condition(plan_.status,
                                 {kProgressing, "Unknown", kPaused, "Deployment is paused"}, now_);
    if (!paused && reason == kPaused)
        set_deployment_condition(
            plan_.status, {kProgressing, "Unknown", "DeploymentResumed", "Deployment is resumed"},
            now_);
}

void DeploymentPlanner::sync_revision() {
    if (new_ == nullptr) return;
    copy_annotations(deployment_, *new_);
    raise_revision(*new_, highest_revision(old_) + 1);
    new_->set_least_ready_seconds(count(spec_, "minReadySeconds"));
    plan_.revision = new_->annotation(kRevisionKey);
    if (deadline_ && condition_of(plan_.status, kProgressing) == nullptr)
        set_deployment_condition(plan_.status,
                                 {kProgressing, "True", "FoundNewReplicaSet",
                                  fmt::format("Found new replica set \"{}\"", new_->name())},
                                 now_);
}

/// Whether the number of replicas has changed since the ReplicaSets were given theirs.
bool DeploymentPlanner::is_scaled() {
    return std::ranges::any_of(active(), [&](const RolloutSet* set) {
        const auto desired = set->number(kDesiredReplicasKey);
        return desired && *desired != replicas_;
    });
}

void DeploymentPlanner::scale(RolloutSet& set, std::int64_t replicas) {
    const std::int64_t before = set.replicas();
    set.scale(replicas);
    set.annotate(kDesiredReplicasKey, fmt::format("{}", replicas_));
    set.annotate(kMaxReplicasKey, fmt::format("{}", replicas_ + limits_.surge));
    if (before != replicas)
        plan_.scaled.push_back(fmt::format("Scaled {} replica set {} from {} to {}",
                                           before < replicas ? "up" : "down", set.name(), before,
                                           replicas));
}

/// While nothing is rolled out, the one ReplicaSet takes the new number; else all in proportion.
void DeploymentPlanner::scale_all() {
    const std::vector<RolloutSet*> running = active();
    if (running.size() == 1) return scale(*running.front(), replicas_);
    if (running.empty()) {
        RolloutSet* latest = new_ != nullptr ? new_ : old_.empty() ? nullptr : old_.back();
        if (latest != nullptr) scale(*latest, replicas_);
        return;
    }
    const bool saturated = new_ != nullptr && new_->replicas() == replicas_ &&
                           new_->number(kDesiredReplicasKey) == replicas_ &&
                           new_->available() == replicas_;
    if (saturated)
        for (RolloutSet* set : old_) scale(*set, 0);
    else if (rolling())
        scale_proportionally();
}

void DeploymentPlanner::scale_proportionally() {
    std::vector<RolloutSet*> running = active();
    std::int64_t present = 0;
    for (const RolloutSet* set : running) present += set->replicas();
    const std::int64_t allowed = replicas_ > 0 ? replicas_ + limits_.surge : 0;
    const std::int64_t to_add = allowed - present;
    // The largest first; of equal ones the newer if there is something to add, else the older.
    std::ranges::sort(running, [&](const RolloutSet* a, const RolloutSet* b) {
        if (a->replicas() != b->replicas()) return a->replicas() > b->replicas();
        if (a->created() != b->created()) return (to_add > 0) == (a->created() > b->created());
        return a->name() < b->name();
    });
    std::int64_t added = 0;
    std::vector<std::int64_t> sizes;
    for (const RolloutSet* set : running) {
        const std::int64_t size = set->replicas();
        std::int64_t share = -size;
        if (replicas_ > 0) {
            const std::int64_t before =
                set->number(kMaxReplicasKey).value_or(count(before_, "replicas"));
            share =
                before == 0 ? 0 : proportional_size(size, replicas_ + limits_.surge, before) - size;
        }
        share = to_add > 0 ? std::min(share, to_add - added) : std::max(share, to_add - added);
        if (to_add == 0 || to_add == added) share = 0;
        sizes.push_back(size + share);
        added += share;
    }
    sizes.front() = std::max<std::int64_t>(sizes.front() + to_add - added, 0);
    for (std::size_t i = 0; i < running.size(); ++i) scale(*running[i], sizes[i]);
}

/// The size of the new ReplicaSet in the next step of a rolling update.
std::int64_t DeploymentPlanner::next_size(std::int64_t present) const {
    if (!rolling()) return replicas_;
    const std::int64_t room = replicas_ + limits_.surge - sum(&RolloutSet::replicas);
    if (room <= 0) return present;
    return present + std::min(room, replicas_ - present);
}

void DeploymentPlanner::create() {
    RolloutSet made(new_replica_set(deployment_));
    copy_annotations(deployment_, made);
    raise_revision(made, highest_revision(old_) + 1);
    scale(made, next_size(0));
    plan_.revision = made.annotation(kRevisionKey);
    if (deadline_)
        set_deployment_condition(plan_.status,
                                 {kProgressing, "True", "NewReplicaSetCreated",
                                  fmt::format("Created new replica set \"{}\"", made.name())},
                                 now_);
    plan_.create = made.object();
}

void DeploymentPlanner::roll() {
    if (new_ == nullptr) return create();
    if (new_->replicas() > replicas_) return scale(*new_, replicas_);
    if (new_->replicas() < replicas_) {
        const std::int64_t next = next_size(new_->replicas());
        if (next != new_->replicas()) return scale(*new_, next);
    }
    if (shrink_old()) return;
    if (complete(before_)) trim_history();
}

/// Removes of the old pods what is not needed to have enough of them available: first those that are not.
bool DeploymentPlanner::shrink_old() {
    std::int64_t old_replicas = 0;
    for (const RolloutSet* set : old_) old_replicas += set->replicas();
    if (old_replicas == 0) return false;
    const std::int64_t least = replicas_ - limits_.unavailable;
    const std::int64_t missing = new_->replicas() - new_->available();
    const std::int64_t most = sum(&RolloutSet::replicas) - least - missing;
    if (most <= 0) return false;
    const std::int64_t dropped = drop_unhealthy(most);
    std::int64_t left = sum(&RolloutSet::available) - least;
    const bool any_left = left > 0;
    for (RolloutSet* set : old_) {
        if (left <= 0) break;
        const std::int64_t now = std::min(set->replicas(), left);
        if (now > 0) scale(*set, set->replicas() - now);
        left -= now;
    }
    return dropped > 0 || any_left;
}

std::int64_t DeploymentPlanner::drop_unhealthy(std::int64_t most) {
    std::int64_t dropped = 0;
    for (RolloutSet* set : old_) {
        const std::int64_t unhealthy = set->replicas() - set->available();
        const std::int64_t now = std::min(most - dropped, unhealthy);
        if (set->replicas() == 0 || now <= 0) continue;
        scale(*set, set->replicas() - now);
        dropped += now;
    }
    return dropped;
}

void DeploymentPlanner::recreate() {
    bool scaled = false;
    for (RolloutSet* set : old_) {
        if (set->replicas() == 0) continue;
        scale(*set, 0);
        scaled = true;
    }
    if (scaled || old_pods_run()) return;
    if (new_ == nullptr) return create();
    if (new_->replicas() != replicas_) scale(*new_, replicas_);
    if (complete(before_)) trim_history();
}

bool DeploymentPlanner::old_pods_run() const {
    return std::ranges::any_of(old_, [&](const RolloutSet* set) {
        const auto running = running_.find(set->name());
        return set->actual() > 0 || (running != running_.end() && running->second > 0);
    });
}

void DeploymentPlanner::trim_history() {
    const auto limit = kube::int_at(spec_, "revisionHistoryLimit");
    if (!limit) return;
    std::vector<const RolloutSet*> kept;
    for (const RolloutSet* set : old_)
        if (!kube::is_deleting(set->object())) kept.push_back(set);
    const auto too_many = static_cast<std::int64_t>(kept.size()) - *limit;
    if (too_many <= 0) return;
    std::ranges::sort(kept, [](const RolloutSet* a, const RolloutSet* b) {
        return a->revision() != b->revision() ? a->revision() < b->revision()
                                              : a->name() < b->name();
    });
    kept.resize(static_cast<std::size_t>(too_many));
    for (const RolloutSet* set : kept)
        if (set->idle()) plan_.remove.emplace_back(set->name());
}

void DeploymentPlanner::write_counts() {
    json::object& status = plan_.status;
    const auto put = [&](std::string_view key, std::int64_t number) {
        if (number == 0)
            status.erase(key);
        else
            status[key] = number;
    };
    const std::int64_t available = sum(&RolloutSet::available);
    put("observedGeneration",
        kube::int_at(kube::metadata_of(deployment_), "generation").value_or(0));
    put("replicas", sum(&RolloutSet::actual));
    put("updatedReplicas", new_ == nullptr ? 0 : new_->actual());
    put("readyReplicas", sum(&RolloutSet::ready));
    put("availableReplicas", available);
    put("unavailableReplicas", std::max<std::int64_t>(sum(&RolloutSet::replicas) - available, 0));
    if (available >= replicas_ - limits_.unavailable)
        set_deployment_condition(status,
                                 {"Available", "True", "MinimumReplicasAvailable",
                                  "Deployment has minimum availability."},
                                 now_);
    else
        set_deployment_condition(status,
                                 {"Available", "False", "MinimumReplicasUnavailable",
                                  "Deployment does not have minimum availability."},
                                 now_);
}

bool DeploymentPlanner::complete(const json::object& status) const {
    return count(status, "updatedReplicas") == replicas_ &&
           count(status, "replicas") == replicas_ &&
           count(status, "availableReplicas") == replicas_ &&
           count(status, "observedGeneration") >=
               kube::int_at(kube::metadata_of(deployment_), "generation").value_or(0);
}

bool DeploymentPlanner::progresses() const {
    const auto old_of = [&](const json::object& status) {
        return count(status, "replicas") - count(status, "updatedReplicas");
    };
    const json::object& now = plan_.status;
    return count(now, "updatedReplicas") > count(before_, "updatedReplicas") ||
           old_of(now) < old_of(before_) ||
           count(now, "readyReplicas") > count(before_, "readyReplicas") ||
           count(now, "availableReplicas") > count(before_, "availableReplicas");
}

bool DeploymentPlanner::timed_out() const {
    const json::object* known = condition_of(plan_.status, kProgressing);
    if (known == nullptr || kube::string_at(*known, "reason") == kComplete) return false;
    if (kube::string_at(*known, "reason") == kTimedOut) return true;
    const auto since = kube::parse_time(kube::string_at(*known, "lastUpdateTime"));
    return since && *since + bounded_seconds(*deadline_) < now_;
}

void DeploymentPlanner::note_progress() {
    if (!deadline_) return remove_condition(plan_.status, kProgressing);
    const json::object* known = condition_of(plan_.status, kProgressing);
    const bool was_complete =
        known != nullptr && kube::string_at(*known, "reason") == kComplete &&
        count(plan_.status, "replicas") == count(plan_.status, "updatedReplicas");
    if (was_complete) return;
    if (complete(plan_.status)) {
        set_deployment_condition(
            plan_.status,
            {kProgressing, "True", kComplete, subject() + " has successfully progressed."}, now_);
    } else if (progresses()) {
        renew_deployment_condition(
            plan_.status,
            {kProgressing, "True", "ReplicaSetUpdated", subject() + " is progressing."}, now_);
    } else if (timed_out()) {
        set_deployment_condition(
            plan_.status,
            {kProgressing, "False", kTimedOut, subject() + " has timed out progressing."}, now_);
    }
}

/// A ReplicaSet that can't make its pods: the new one's failure counts first.
void DeploymentPlanner::note_failures() {
    std::vector<const RolloutSet*> order;
    if (new_ != nullptr) order.push_back(new_);
    order.insert(order.end(), old_.begin(), old_.end());
    for (const RolloutSet* set : order) {
        const json::object* failure =
            condition_of(kube::child(set->object(), "status"), "ReplicaFailure");
        if (failure == nullptr) continue;
        const json::object* known = condition_of(plan_.status, "ReplicaFailure");
        if (known != nullptr &&
            kube::string_at(*known, "reason") == kube::string_at(*failure, "reason"))
            return;
        json::object made = kube::copy_of(*failure);
        made["lastUpdateTime"] = kube::string_at(*failure, "lastTransitionTime");
        return put_condition(plan_.status, std::move(made));
    }
    remove_condition(plan_.status, "ReplicaFailure");
}

/// When a rollout that does not progress is late.
void DeploymentPlanner::come_back() {
    const json::object* known = condition_of(plan_.status, kProgressing);
    if (!deadline_ || known == nullptr || complete(plan_.status)) return;
    const std::string_view reason = kube::string_at(*known, "reason");
    const auto since = kube::parse_time(kube::string_at(*known, "lastUpdateTime"));
    if (reason == kTimedOut || reason == kComplete || !since) return;
    plan_.again = *since + bounded_seconds(*deadline_) + std::chrono::seconds(1);
}

DeploymentPlan DeploymentPlanner::plan() {
    bool rolls_out = false;
    if (!kube::is_deleting(deployment_)) {
        note_pause();
        sync_revision();
        const bool paused = kube::bool_at(spec_, "paused");
        rolls_out = !paused && !is_scaled();
        if (!rolls_out)
            scale_all();
        else if (rolling())
            roll();
        else
            recreate();
        if (paused) trim_history();
    }
    write_counts();
    if (rolls_out) {
        note_progress();
        note_failures();
        come_back();
    }
    for (RolloutSet& set : sets_)
        if (set.changed()) plan_.update.push_back(set.object());
    const std::string_view known =
        kube::string_at(kube::child(kube::metadata_of(deployment_), "annotations"), kRevisionKey);
    if (plan_.revision == known) plan_.revision.clear();
    return std::move(plan_);
}

}  // namespace

DeploymentPlan plan_deployment(DeploymentFacts facts, WallTime now) {
    return DeploymentPlanner(std::move(facts), now).plan();
}

void note_failed_creation(json::object& status, std::string_view message, WallTime now) {
    set_deployment_condition(status, {kProgressing, "False", "ReplicaSetCreateError", message},
                             now);
}

}  // namespace muster::workloads
