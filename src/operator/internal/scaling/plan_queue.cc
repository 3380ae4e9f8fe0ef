#include "operator/internal/scaling/plan_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "operator/internal/scaling/excluded_nodes.h"

namespace muster::operators {
namespace {

using plan_phases::kFailed;
using plan_phases::kPending;
using plan_phases::kScaling;
using plan_phases::kSucceeded;

class Queue {
  public:
    Queue(std::vector<PlanPtr> plans, const std::optional<PlannedJob>& job,
          const Refusals& refusals, WallTime now)
        : plans_(std::move(plans)), job_(job), refusals_(refusals), now_(now) {
        std::erase_if(plans_, [](const PlanPtr& plan) { return plan->deleting; });
        std::ranges::sort(plans_, {}, [](const PlanPtr& plan) {
            return std::tuple(!plan->manual, plan->created, std::string_view(plan->name));
        });
    }

    PlanQueue make() && {
        if (const std::string why = why_none_is_executed(); !why.empty())
            end_all(why);
        else if (job_)
            go_through();
        else
            wait_for_job();
        find_surplus();
        return std::move(made_);
    }

  private:
    void tell(const PlanPtr& plan, std::int64_t generation, std::string_view phase,
              std::string message) {
        const jobs::ScalePlanStatus& told = plan->status;
        if (told.phase == phase && told.message == message &&
            told.observed_generation == generation)
            return;
        made_.news.push_back({plan, generation, phase, std::move(message)});
    }
    void tell(const PlanPtr& plan, std::string_view phase, std::string message) {
        tell(plan, plan->generation, phase, std::move(message));
    }

    // --- jobs that no plan changes

    std::string why_none_is_executed() const {
        if (!job_) return {};
        const JobRecord& job = job_->job;
        if (job.deleting) return fmt::format("{} {} is being deleted", kind(), job.name);
        if (job.managed_elsewhere)
            return fmt::format("{} {} is managed by another controller", kind(), job.name);
        if (job_->status.finished())
            return fmt::format("{} {} has {}", kind(), job.name,
                               job_->status.is("Succeeded") ? "succeeded" : "failed");
        return {};
    }
    const std::string& kind() const { return job_->job.kind->resource.kind; }

    void end_all(const std::string& why) {
        for (const PlanPtr& plan : plans_)
            if (!plan->ended() && !is_idle(*plan)) tell(plan, kFailed, why);
    }
    void wait_for_job() {
        for (const PlanPtr& plan : plans_) {
            if (plan->ended() || is_idle(*plan)) continue;
            if (!plan->problem.empty()) {
                tell(plan, kFailed, plan->problem);
                continue;
            }
            const std::string missing = fmt::format("there is no job \"{}\" in the namespace {}",
                                                    plan->job_name, plan->namespace_);
            const WallTime end = plan->created + kJobGrace;
            if (now_ >= end) {
                tell(plan, kFailed, missing);
                continue;
            }
            tell(plan, kPending,
                 fmt::format("{}; the plan waits for it for {} s", missing, kJobGrace.count()));
            made_.look_again = made_.look_again ? std::min(*made_.look_again, end) : end;
        }
    }

    /// Nothing is told of it. One that takes back what the job keeps of it is executed.
    bool is_idle(const PlanRecord& plan) const {
        if (!plan.asks_nothing()) return false;
        return !job_ || !job_->status.plan || job_->status.plan->spares.empty();
    }

    // --- one after the other

    void go_through() {
        const PlanPtr under_way = find_under_way();
        bool busy = under_way != nullptr;
        if (under_way) tell_progress(under_way);
        for (const PlanPtr& plan : plans_) {
            if (plan == under_way || plan->ended() || is_idle(*plan)) continue;
            if (const std::string why = why_refused(*plan); !why.empty())
                tell(plan, kFailed, why);
            else if (busy)
                wait(plan, "waits for the plans before it");
            else
                busy = take(plan);
        }
    }

    /// The plan that the job's status names, until its own status says that it has ended.
    PlanPtr find_under_way() const {
        const std::optional<jobs::ExecutedPlan>& executed = job_->status.plan;
        if (!executed) return nullptr;
        const auto named = std::ranges::find(plans_, executed->uid, &PlanRecord::uid);
        return named == plans_.end() || (*named)->ended(executed->generation) ? nullptr : *named;
    }
    void tell_progress(const PlanPtr& plan) {
        const std::int64_t generation = job_->status.plan->generation;
        const std::string open =
            is_stopped() ? std::string("the job is suspended") : open_ends(*job_);
        ends_now_ = open.empty();
        if (open.empty())
            tell(plan, generation, kSucceeded,
                 generation == plan->generation ? without_effect(*plan) : std::string());
        else
            tell(plan, generation, kScaling, open);
    }
    std::string without_effect(const PlanRecord& plan) const {
        if (!job_->one_machine || plan.spec == nullptr || plan.spec->excluded_nodes.empty())
            return {};
        return "excludedNodes has no effect on one machine, which has no other node";
    }
    /// When the one under way has ended, the next one begins at once: what it waits for is not worth
    /// a write.
    void wait(const PlanPtr& plan, std::string why) {
        if (!ends_now_) tell(plan, kPending, std::move(why));
    }

    bool is_stopped() const {
        return job_->job.facts == nullptr || job_->job.facts->suspend ||
               job_->status.is("Suspended");
    }

    std::string why_refused(const PlanRecord& plan) const {
        if (!plan.problem.empty()) return plan.problem;
        const auto refusal = refusals_.find(plan.uid);
        if (refusal != refusals_.end() && refusal->second.generation == plan.generation)
            return refusal->second.why;
        // It was executed: its status says so only after that of the job.
        if (plan.status.phase == kScaling && plan.status.observed_generation == plan.generation)
            return "the job's status no longer says that this plan was executed: another status "
                   "took its place";
        return {};
    }

    /// False for one that is refused.
    bool take(const PlanPtr& plan) {
        if (job_->job.facts == nullptr) {
            wait(plan, "the job's manifest can't be run");
            return true;
        }
        if (is_stopped() || job_->status.start_time.empty()) {
            wait(plan, is_stopped() ? "the job is suspended" : "the job has not begun");
            return true;
        }
        Result<ScaleOrder> order =
            order_of(*plan->spec, plan->uid, plan->generation, job_->job, job_->status);
        if (!order) {
            tell(plan, kFailed, order.error().message());
            return false;
        }
        note_places(*plan, order->executed);
        made_.next = plan;
        made_.order = *std::move(order);
        return true;
    }
    void note_places(const PlanRecord& plan, jobs::ExecutedPlan& executed) const {
        if (job_->one_machine)
            executed.excluded_nodes.clear();
        else
            executed.excluded_nodes =
                excluded_after(executed.excluded_nodes, plan.spec->excluded_nodes, now_);
        if (plan.is_of_master() && plan.spec->spare_pods.empty()) executed.spares.clear();
    }

    void find_surplus() {
        std::vector<PlanPtr> ended;
        for (const PlanPtr& plan : plans_)
            if (plan->ended() && !plan->is_of_master()) ended.push_back(plan);
        if (ended.size() <= kEndedPlans) return;
        std::ranges::sort(ended, std::greater{}, [](const PlanPtr& plan) {
            return std::tuple(std::string_view(plan->status.finish_time), plan->created,
                              std::string_view(plan->name));
        });
        made_.surplus.assign(ended.begin() + kEndedPlans, ended.end());
    }

    std::vector<PlanPtr> plans_;
    const std::optional<PlannedJob>& job_;
    const Refusals& refusals_;
    WallTime now_;
    bool ends_now_ = false;  ///< the one that was under way
    PlanQueue made_;
};

/// Members without a pod that are not done.
bool lacks_pods(const ReplicaTotals& totals, const Members& members, const IndexSet& done) {
    for (auto id = totals.vacant.next(0); id >= 0; id = totals.vacant.next(id + 1))
        if (members.contains(id) && !totals.succeeded.contains(id) && !done.contains(id))
            return true;
    return false;
}

IndexSet known_as_done(const jobs::JobStatus& status, const std::string& type) {
    const auto told = status.replica_statuses.find(type);
    return told == status.replica_statuses.end()
               ? IndexSet()
               : IndexSet::parse(told->second.completed_indexes, jobs::kMaxReplicas);
}

}  // namespace

PlanQueue queue_of(std::vector<PlanPtr> plans, const std::optional<PlannedJob>& job,
                   const Refusals& refusals, WallTime now) {
    return Queue(std::move(plans), job, refusals, now).make();
}

std::string open_ends(const PlannedJob& job) {
    std::string text;
    const JobFacts& facts = *job.job.facts;
    for (const TypeFacts& type : facts.types) {
        const Members* members = job.dependents.members(type.type);
        const Dependents::OfType* of_type = job.dependents.of(type.type);
        if (members == nullptr || of_type == nullptr) continue;
        const auto add = [&](std::string_view what) {
            text +=
                fmt::format("{}{} {}", text.empty() ? "" : "; ", facts.name_of(type.type), what);
        };
        constexpr std::size_t kMostNamed = 3;
        const std::vector<Members::Takeover>& takeovers = members->takeovers();
        for (std::size_t i = 0; i < takeovers.size() && i < kMostNamed; ++i)
            add(fmt::format("{} is to take over from {}", takeovers[i].to, takeovers[i].from));
        const IndexSet done = known_as_done(job.status, facts.name_of(type.type));
        if (lacks_pods(of_type->totals, *members, done)) add("pods are to be made");
        if (!of_type->totals.surplus.empty()) add("pods are to go");
    }
    return text;
}

}  // namespace muster::operators
