#include "sim/invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <map>
#include <ranges>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/lower_case.h"
#include "jobs/kind.h"
#include "jobs/scale_plan.h"
#include "kube/values/time.h"
#include "sim/internal/job_causes.h"
#include "sim/internal/job_ledger.h"
#include "sim/internal/json_view.h"
#include "sim/internal/plans/executed_plans.h"

namespace muster::sim {

namespace {

using namespace std::chrono_literals;

/// What happens while a status is on its way is not in it.
constexpr Duration kInFlight = 1s;
/// By then all is written that a change leads to, but for pods that wait.
constexpr Duration kWritten = 30s;
/// 10 s after a time in whole seconds.
constexpr Duration kLeastPause = 9s;

bool is_job(const store::StoreKey& key) { return jobs::is_job_resource(key.resource); }

bool finished(const json::value& job) {
    return condition_of(job, "Succeeded") == "True" || condition_of(job, "Failed") == "True";
}

bool suspended(const json::value& job) {
    const json::value* suspend = find_at(job, {"spec", "runPolicy", "suspend"});
    return suspend != nullptr && *suspend == true;
}

/// When the run policy's seconds have gone by after a time of the status; nothing without either.
std::optional<WallTime> later(const json::value& job, std::string_view time,
                              std::string_view policy) {
    const json::value* seconds = find_at(job, {"spec", "runPolicy", policy});
    const auto from = kube::parse_time(text_at(job, {"status", time}));
    if (seconds == nullptr || !from) return std::nullopt;
    return *from + std::chrono::seconds(seconds->to_number<std::int64_t>());
}

std::optional<WallTime> deadline_of(const json::value& job) {
    return later(job, "startTime", "activeDeadlineSeconds");
}

std::optional<WallTime> end_of_ttl(const json::value& job) {
    return later(job, "completionTime", "ttlSecondsAfterFinished");
}

/// How a job's master ends then.
constexpr std::int64_t kSaysThatTheJobFailed = 1;

/// Whether a failure of one of these types restarts the whole job.
template <class Of>
bool restarts_all(const json::value& job, Of is_meant) {
    const jobs::JobKind* kind =
        jobs::find_kind(text_at(job, {"apiVersion"}), text_at(job, {"kind"}));
    const std::string_view said =
        text_at(job, {"metadata", "annotations", jobs::annotations::kRestart});
    return kind != nullptr &&
           std::ranges::any_of(kind->replica_types, [&](const jobs::ReplicaType& type) {
               return is_meant(type) && jobs::restarts_all(type, said);
           });
}

bool has_rising_ids(const json::value& job) {
    const jobs::JobKind* kind =
        jobs::find_kind(text_at(job, {"apiVersion"}), text_at(job, {"kind"}));
    return kind != nullptr && kind->rising_ids;
}

bool has_groups(const json::value& job) {
    return restarts_all(job, [](const jobs::ReplicaType&) { return true; });
}

/// Everything of a finished job that may never change.
std::string final_state(const json::value& job) {
    std::string text(text_at(job, {"status", "completionTime"}));
    const json::value* conditions = find_at(job, {"status", "conditions"});
    for (const json::value& condition : conditions->get_array()) text += json::serialize(condition);
    return text;
}

/// The replicas that decide start again without end, whatever their containers say.
bool never_ends(const json::value& object) {
    const jobs::JobKind* kind =
        jobs::find_kind(text_at(object, {"apiVersion"}), text_at(object, {"kind"}));
    if (kind == nullptr) return false;
    std::vector<Cause> ignored;  // what a user has made of it may be wrong elsewhere
    jobs::Job job = kind->decode(object, ignored);
    jobs::apply_defaults(job);
    const jobs::ReplicaSpec* decides =
        job.replica(kind->replica_types[kind->success_policy(job).type].name);
    return decides != nullptr && decides->restart_policy == "Always";
}

/// How many restarts a backoffLimit allows (upstream's rule: the one that reaches it is one too
/// many, and with 0 the first).
std::optional<std::int64_t> most_allowed(const json::value& job) {
    const json::value* limit = find_at(job, {"spec", "runPolicy", "backoffLimit"});
    if (limit == nullptr) return std::nullopt;
    return std::max<std::int64_t>(0, limit->to_number<std::int64_t>() - 1);
}

}  // namespace

struct Invariants::State {
    const Clock& clock;
    Ledger& ledger;
    InvariantHooks hooks;
    std::set<std::string> said;             ///< each rule is broken once by each job
    std::map<std::string, JobLedger> jobs;  ///< by uid
    /// Pods and services that exist, with their owner's uid.
    std::map<store::StoreKey, std::string> dependents;
    JobCauses causes = {};
    ExecutedPlans plans = {};

    std::string leader = {};    ///< of the Lease, as a writer; empty: no operator
    bool leader_wrote = false;  ///< since it is that

    std::vector<std::pair<Instant, Duration>> calendar_steps = {};  ///< when, and by how much

    void lease_changed(const store::StoreChange& change) {
        std::string_view holder;
        if (change.object != nullptr) holder = text_at(*change.object, {"spec", "holderIdentity"});
        const std::string_view name = holder.substr(0, holder.find('#'));
        if (name == leader) return;
        leader = name;
        leader_wrote = false;
    }
    void operator_wrote(std::string_view who, const store::StoreChange& change) {
        if (who == leader) {
            leader_wrote = true;
        } else if (leader_wrote) {
            ledger.violated(
                "one-leader",
                fmt::format("{} wrote {} {}/{} after {}, which leads now, had begun", who,
                            change.key.resource, change.key.namespace_, change.key.name, leader));
        }
    }

    WallTime now() const { return clock.wall_now(); }
    Instant instant() const { return clock.now(); }

    void broken(const char* rule, const JobLedger& job, std::string what) {
        if (said.insert(fmt::format("{} {}", rule, job.title)).second)
            ledger.violated(rule, fmt::format("{}: {}", job.title, what));
    }

    // --- jobs

    void job_changed(std::string_view who, const store::StoreChange& change) {
        const json::value& object = change.object ? *change.object : *change.previous;
        JobLedger& job = jobs[std::string(text_at(object, {"metadata", "uid"}))];
        if (change.object == nullptr) return job_removed(who, job, object);
        if (job.title.empty())
            job.title = fmt::format("{} {}/{}", change.key.resource, change.key.namespace_,
                                    change.key.name);
        if (job.object != nullptr && number_at(*job.object, {"metadata", "generation"}) !=
                                         number_at(object, {"metadata", "generation"})) {
            job.excuse_all();
            job.edited_at = instant();
        }
        if (deleting(object) && (job.object == nullptr || !deleting(*job.object)))
            deletion_begins(who, job, object);
        job.object = change.object;
        job.note_takeovers();
        for (std::string& what : plans.job_changed(object))
            broken("plan-once", job, std::move(what));
        check_restarts(job);
        check_conditions(job);
        watch_deadline(text_at(object, {"metadata", "uid"}), job);
    }

    void job_removed(std::string_view who, JobLedger& job, const json::value& object) {
        if (job.removed) broken("ttl", job, "was deleted twice");
        if (!deleting(job.object ? *job.object : object)) deletion_begins(who, job, object);
        job.removed = true;
    }

    void deletion_begins(std::string_view who, JobLedger& job, const json::value& object) {
        if (!by_operator(who)) return;
        const auto due = end_of_ttl(object);
        if (!due || !finished(object))
            return broken("ttl", job, "was deleted by the operator without a TTL");
        if (now() + set_back_under_way() < *due)
            broken("ttl", job,
                   fmt::format("was deleted at {}, before {}", kube::format_micro_time(now()),
                               kube::format_time(*due)));
        if (suspended(object)) broken("ttl", job, "was deleted while suspended");
    }

    /// By how much more the calendar may have shown when that which has its effect now was asked
    /// for.
    Duration set_back_under_way() const {
        Duration most{};
        Duration sum{};
        for (const auto& [at, by] : calendar_steps | std::views::reverse) {
            if (clock.now() - at > hooks.longest_request) break;
            sum -= by;
            most = std::max(most, sum);
        }
        return most;
    }

    void check_conditions(JobLedger& job) {
        const json::value& object = *job.object;
        const auto is = [&](std::string_view type) { return condition_of(object, type) == "True"; };
        for (const auto& [one, other] :
             {std::pair("Succeeded", "Failed"), std::pair("Running", "Restarting"),
              std::pair("Running", "Succeeded"), std::pair("Running", "Failed")})
            if (is(one) && is(other))
                broken("exclusive", job, fmt::format("is both {} and {}", one, other));
        const bool done = finished(object);
        if (done != !text_at(object, {"status", "completionTime"}).empty())
            broken("completion-time", job,
                   fmt::format("is {}finished and has {}completionTime", done ? "" : "not ",
                               done ? "no " : "a "));
        if (job.final_state) {
            const std::string state = done ? final_state(object) : "not finished any more";
            if (state != *job.final_state)
                broken("final", job,
                       fmt::format("had ended with {} and now shows {}", *job.final_state, state));
        } else if (done) {
            job.final_state = final_state(object);
            check_account(job);
        }
    }

    void check_restarts(JobLedger& job) {
        const std::int64_t generation = number_at(*job.object, {"status", "restartGeneration"});
        const std::int64_t most_generations = job.most_generations(hooks.forgetful);
        if (generation > most_generations)
            broken("restarts-most", job,
                   fmt::format("{} group restarts are told, {} happened", generation,
                               most_generations));
        const json::value* types = find_at(*job.object, {"status", "replicaStatuses"});
        if (types == nullptr || !types->is_object()) return;
        for (const auto& [type, status] : types->get_object()) {
            const std::int64_t told = number_at(status, {"restarts"});
            std::int64_t& before = job.told_restarts[lower_case(type)];
            if (told < before)
                broken("restarts-fall", job,
                       fmt::format("restarts of {} went from {} down to {}", std::string_view(type),
                                   before, told));
            before = told;
            const std::int64_t most =
                hooks.operators * job.most_restarts(lower_case(type), hooks.forgetful);
            if (told > most)
                broken("restarts-most", job,
                       fmt::format("{} restarts of {} are told, {} happened", told,
                                   std::string_view(type), most));
        }
    }

    /// What a job says of its restarts when it ends, or when the world does. What happens
    /// afterwards to pods that run on does not count.
    void check_account(JobLedger& job) {
        if (has_groups(*job.object)) return;
        job.settle_all(hooks.seen_before());
        const Instant when = instant() - kInFlight;
        for (const auto& [id, replica] : job.replicas) {
            const auto told = job.told_restarts.find(id.first);
            const std::int64_t number = told == job.told_restarts.end() ? 0 : told->second;
            const std::int64_t least = job.least_restarts(id.first, when);
            if (number < least)
                broken("restarts-least", job,
                       fmt::format("{} restarts of {} are told, {} happened", number, id.first,
                                   least));
        }
        const auto most = most_allowed(*job.object);
        const std::int64_t least = job.least_restarts(when);
        if (most && least > *most && condition_of(*job.object, "Failed") != "True")
            broken("backoff-limit", job,
                   fmt::format("has had {} restarts, and {} are allowed", least, *most));
    }

    void watch_deadline(std::string_view uid, JobLedger& job) {
        const json::value& object = *job.object;
        const auto due = deadline_of(object);
        if (!due || finished(object) || due == job.deadline) return;
        job.deadline = due;
        hooks.on_deadline(std::string(uid), *due);
    }

    /// `late`: by how much the deadline may be missed.
    void check_deadline(const JobLedger& job, Duration late) {
        if (job.removed || finished(*job.object) || suspended(*job.object)) return;
        const auto due = deadline_of(*job.object);
        if (due && now() >= *due + late)
            broken("deadline", job,
                   fmt::format("has run since {}, its deadline was {}, and it is not Failed",
                               text_at(*job.object, {"status", "startTime"}),
                               kube::format_time(*due)));
    }

    // --- what has no reason

    /// An operator or a master writes about a job of which nothing has happened for a while.
    void check_quiet(std::string_view who, const std::string& uid,
                     const store::StoreChange& change) {
        const auto known = jobs.find(uid);
        if ((!by_operator(who) && !by_master(who)) || known == jobs.end()) return;
        Instant last = causes.last_for(who, uid);
        if (hooks.calm_since) last = std::max(last, hooks.calm_since());
        if (!calendar_steps.empty()) last = std::max(last, calendar_steps.back().first);
        if (by_master(who) && hooks.happened_in) last = std::max(last, hooks.happened_in(uid));
        if (last > instant() - kWritten || !is_quiet(known->second)) return;
        broken("quiet-job", known->second,
               fmt::format("{} has written {} {}, and nothing had happened for {} s", who,
                           change.key.resource, change.key.name,
                           std::chrono::floor<std::chrono::seconds>(instant() - last).count()));
    }
    /// It runs, and no time is near that changes it.
    bool is_quiet(const JobLedger& job) const {
        if (job.removed || job.object == nullptr || deleting(*job.object)) return false;
        if (condition_of(*job.object, "Running") != "True" || !job.at_rest()) return false;
        const auto due = deadline_of(*job.object);
        return !due || now() < *due;
    }

    void plan_changed(const store::StoreChange& change) {
        for (std::string& what : plans.plan_changed(change))
            ledger.violated("plan-once", std::move(what));
    }

    // --- pods

    void pod_changed(std::string_view who, const store::StoreChange& change) {
        const json::value& pod = change.object ? *change.object : *change.previous;
        auto owner = jobs.find(std::string(controller_uid(pod)));
        if (owner == jobs.end()) return;
        JobLedger& job = owner->second;
        const JobLedger::ReplicaId id = JobLedger::replica_of(pod);
        const PodEntry& entry = job.note_pod(id, change,
                                             {.who = who,
                                              .at = instant(),
                                              .seen_before = hooks.seen_before(),
                                              .forgetful = hooks.forgetful,
                                              .terms = hooks.terms ? hooks.terms() : 0});
        if (change.previous == nullptr) {
            check_replacement(job, id);
            check_id(job, id);
            check_pause(job, id);
            check_order(job, id);
        }
        // What ends before the job says that it is resumed does not count.
        if (job.object != nullptr && condition_of(*job.object, "Suspended") == "True")
            job.excuse_all();
        if (!entry.live) return;
        for (const PodEntry& other : job.replicas[id].pods)
            if (other.live && other.uid != entry.uid && other.generation == entry.generation &&
                !job.is_takeover(id.first, entry, other))
                broken("one-pod", job, fmt::format("two live pods of {} {}", id.first, id.second));
    }

    /// A pod was made, perhaps after another of its replica.
    void check_replacement(const JobLedger& job, const JobLedger::ReplicaId& id) {
        const std::vector<PodEntry>& pods = job.replicas.at(id).pods;
        if (pods.size() < 2 || job.object == nullptr) return;
        const PodEntry& before = pods[pods.size() - 2];
        if (!before.sure_bad || before.excused) return;
        // One of two may not have seen yet that the other has ended the job. The pod goes again.
        if (hooks.operators > 1 && finished(*job.object)) return;
        const bool grouped = restarts_all(*job.object, [&](const jobs::ReplicaType& type) {
            // A job outlives its master, and ends by what that says.
            const bool outlived = type.own_program && before.exit_code != kSaysThatTheJobFailed;
            return type.lower() == id.first && !outlived;
        });
        if (grouped && pods.back().generation <= before.generation)
            broken("groups", job,
                   fmt::format("a pod of {} {} follows one that ended badly in generation {}",
                               id.first, id.second, before.generation));
        const auto most = most_allowed(*job.object);
        const std::int64_t least =
            has_groups(*job.object) ? job.generation : job.least_restarts(instant());
        if (most && least > *most)
            broken("backoff-limit", job,
                   fmt::format("restart {} was made, and {} are allowed", least, *most));
    }

    /// A pod was made, of a kind whose ids rise: an id that had a pod which ended, as operators know, is
    /// not used again. Pods of a new generation and of a resumed job keep theirs.
    void check_id(const JobLedger& job, const JobLedger::ReplicaId& id) {
        if (job.object == nullptr || !has_rising_ids(*job.object)) return;
        const PodEntry& made = job.replicas.at(id).pods.back();
        for (const auto& [other, replica] : job.replicas) {
            if (other.first != id.first) continue;
            for (const PodEntry& before : replica.pods)
                if (before.id == made.id && before.uid != made.uid && before.sure_bad &&
                    !before.excused && before.generation == made.generation)
                    broken(
                        "new-ids", job,
                        fmt::format("{} {} was made again after it had ended", id.first, made.id));
        }
    }

    /// A pod was made: the one before it was not the first that followed another, or it waited. An
    /// operator that is new does not know when a pod went that it has not seen, and times mean
    /// little where the calendar jumps.
    void check_pause(const JobLedger& job, const JobLedger::ReplicaId& id) {
        const std::vector<PodEntry>& pods = job.replicas.at(id).pods;
        if (pods.size() < 3 || hooks.operators > 1 || hooks.forgetful || !calendar_steps.empty())
            return;
        const PodEntry& made = pods.back();
        for (const std::size_t back : {2U, 3U}) {
            const PodEntry& before = pods[pods.size() - back];
            if (!before.sure_bad || before.excused || before.generation != made.generation) return;
        }
        const Duration since = made.made_at - pods[pods.size() - 2].made_at;
        if (since < kLeastPause)
            broken(
                "back-off", job,
                fmt::format("a pod of {} {} was made {} ms after the one before it, which was "
                            "not the first to go",
                            id.first, id.second,
                            std::chrono::duration_cast<std::chrono::milliseconds>(since).count()));
    }

    /// A pod was made: all replicas of the type that it starts after have been ready.
    void check_order(const JobLedger& job, const JobLedger::ReplicaId& id) {
        // An edit that no operator has seen yet may want other replicas.
        if (job.object == nullptr || job.edited_at > hooks.seen_before()) return;
        const jobs::JobKind* kind =
            jobs::find_kind(text_at(*job.object, {"apiVersion"}), text_at(*job.object, {"kind"}));
        if (kind == nullptr || !kind->starts_after) return;
        const auto read = jobs::load(*kind, *job.object);
        if (!read) return;
        for (const jobs::ReplicaType& type : kind->replica_types) {
            if (type.lower() != id.first) continue;
            const std::string first = kind->starts_after(*read, type.name);
            const jobs::ReplicaSpec* spec = read->replica(first);
            for (std::int32_t i = 0; spec != nullptr && i < *spec->replicas; ++i)
                if (!was_ready(job, {lower_case(first), std::to_string(i)}))
                    broken("order", job,
                           fmt::format("a {} was made before {} {} was ready", id.first,
                                       lower_case(first), i));
        }
    }

    /// The newest pod of a replica. One of two operators may not have seen that there is a newer.
    bool was_ready(const JobLedger& job, const JobLedger::ReplicaId& id) const {
        const auto replica = job.replicas.find(id);
        if (replica == job.replicas.end()) return false;
        const std::vector<PodEntry>& pods = replica->second.pods;
        if (hooks.operators == 1) return !pods.empty() && pods.back().was_ready;
        return std::ranges::any_of(pods, &PodEntry::was_ready);
    }

    // --- the end

    void check_end(JobLedger& job) {
        if (job.removed) return;
        const json::value& object = *job.object;
        check_deadline(job, 1s);
        if (finished(object)) {
            const auto due = end_of_ttl(object);
            if (due && !suspended(object) && now() > *due + 2s)
                broken("ttl", job, "outlived its TTL");
            return;
        }
        check_account(job);
        const bool waits = suspended(object) && condition_of(object, "Suspended") == "True";
        if (!waits && !never_ends(object))
            broken("ends", job,
                   fmt::format("has not ended: {}", json::serialize(object.at("status"))));
    }
};

Invariants::Invariants(const Clock& clock, Ledger& ledger, InvariantHooks hooks)
    : state_(std::make_unique<State>(State{clock, ledger, std::move(hooks), {}, {}, {}})) {}

Invariants::~Invariants() = default;

void Invariants::calendar_set(Duration by) {
    state_->calendar_steps.emplace_back(state_->instant(), by);
}

void Invariants::change(std::string_view who, const store::StoreChange& change) {
    if (state_->hooks.election) {
        if (change.key.resource == "leases")
            state_->lease_changed(change);
        else if (who.starts_with("operator"))
            state_->operator_wrote(who, change);
    }
    if (const std::string uid = state_->causes.note(who, change, state_->instant()); !uid.empty())
        state_->check_quiet(who, uid, change);
    static const std::string plans = jobs::kScalePlans.qualified();
    if (change.key.resource == plans) state_->plan_changed(change);
    const bool pod = change.key.resource == "pods";
    if (pod || change.key.resource == "services") {
        if (change.object == nullptr)
            state_->dependents.erase(change.key);
        else
            state_->dependents[change.key] = controller_uid(*change.object);
    }
    if (pod) state_->pod_changed(who, change);
    if (is_job(change.key)) state_->job_changed(who, change);
}

void Invariants::deadline_passed(const std::string& uid) {
    auto job = state_->jobs.find(uid);
    if (job != state_->jobs.end()) state_->check_deadline(job->second, {});
}

void Invariants::at_end() {
    for (auto& [uid, job] : state_->jobs) state_->check_end(job);
    for (const std::string& plan : state_->plans.open())
        state_->ledger.violated("ends", fmt::format("ScalePlan {} has not ended", plan));
    for (const auto& [key, owner] : state_->dependents) {
        auto job = state_->jobs.find(owner);
        if (owner.empty() || (job != state_->jobs.end() && !job->second.removed)) continue;
        state_->ledger.violated("orphans", fmt::format("{} {}/{} outlived its job", key.resource,
                                                       key.namespace_, key.name));
    }
}

}  // namespace muster::sim
