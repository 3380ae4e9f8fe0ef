#include "sim/invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/serialize.hpp>
#include <map>
#include <unordered_map>

#include "jobs/kind.h"
#include "kube/time.h"
#include "sim/internal/job_ledger.h"
#include "sim/internal/json_view.h"

namespace muster::sim {

namespace {

constexpr std::array<std::string_view, 12> kNames = {
    "one-pod",          // one live pod for a replica index of a generation
    "final",            // a terminal condition and completionTime never change
    "exclusive",        // Succeeded and Failed, Running and Restarting, Running and finished
    "completion-time",  // exactly when finished
    "restarts-fall",    // status.replicaStatuses.*.restarts never goes down
    "restarts-most",    // and is never more than happened
    "restarts-least",   // nor, at the end, less
    "backoff-limit",    // no pod is made again at the limit
    "deadline",         // fires within a second
    "ttl",              // deletes once, not early, and at all
    "ends",             // every job ends or says what it waits for, and leaves no orphan
    "quiet",            // nothing is written when nothing happens
};

using namespace std::chrono_literals;

std::string lower(std::string_view text) {
    std::string made(text);
    std::ranges::transform(made, made.begin(), [](unsigned char c) {
        return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    });
    return made;
}

std::string_view owner_uid(const json::value& object) {
    const json::value* owners = find_at(object, {"metadata", "ownerReferences"});
    if (owners == nullptr || !owners->is_array()) return {};
    for (const json::value& owner : owners->get_array()) {
        const json::value* controls = find_at(owner, {"controller"});
        if (controls != nullptr && *controls == true) return text_at(owner, {"uid"});
    }
    return {};
}

bool is_job(const apiserver::StoreKey& key) { return key.resource.ends_with(".kubeflow.org"); }
bool by_operator(std::string_view who) { return who.starts_with("operator"); }

bool finished(const json::value& job) {
    return condition_of(job, "Succeeded") == "True" || condition_of(job, "Failed") == "True";
}

bool suspended(const json::value& job) {
    const json::value* suspend = find_at(job, {"spec", "runPolicy", "suspend"});
    return suspend != nullptr && *suspend == true;
}

bool in_groups(const json::value& job) {
    return text_at(job, {"metadata", "annotations", jobs::annotations::kRestart}) ==
           jobs::annotations::kRestartGroup;
}

/// Everything of a finished job that may never change.
std::string final_state(const json::value& job) {
    std::string text(text_at(job, {"status", "completionTime"}));
    const json::value* conditions = find_at(job, {"status", "conditions"});
    for (const json::value& condition : conditions->get_array()) text += json::serialize(condition);
    return text;
}

std::int64_t number_of(std::string_view text) {
    std::int64_t number = 0;
    for (const char c : text)
        if (c >= '0' && c <= '9') number = number * 10 + (c - '0');
    return number;
}

/// A replica that starts again for ever whatever its containers say.
bool never_ends(const json::value& job) {
    const json::value* spec = find_at(job, {"spec"});
    for (const auto& [key, specs] : spec->get_object()) {
        if (!std::string_view(key).ends_with("ReplicaSpecs") || !specs.is_object()) continue;
        for (const auto& [type, replica] : specs.get_object())
            if (text_at(replica, {"restartPolicy"}) == "Always") return true;
    }
    return false;
}

}  // namespace

std::span<const std::string_view> invariant_names() { return kNames; }

struct Invariants::State {
    Invariants& rules;
    std::function<void(std::string, WallTime)> on_deadline;
    std::map<std::string, JobLedger> jobs;  ///< by uid
    /// Pods and services that exist, with their owner's uid.
    std::map<apiserver::StoreKey, std::string> dependents;

    WallTime now() const { return rules.clock_.wall_now(); }

    // --- jobs

    void job_changed(std::string_view who, const apiserver::StoreChange& change) {
        const json::value& object = change.object ? *change.object : *change.previous;
        JobLedger& job = jobs[std::string(text_at(object, {"metadata", "uid"}))];
        if (change.object == nullptr) return job_removed(who, job, object);
        if (job.title.empty())
            job.title = fmt::format("{} {}/{}", change.key.resource, change.key.namespace_,
                                    change.key.name);
        if (job.object != nullptr && number_at(*job.object, {"metadata", "generation"}) !=
                                         number_at(object, {"metadata", "generation"}))
            job.was_edited = true;
        if (deleting(object) && (job.object == nullptr || !deleting(*job.object)))
            deletion_begins(who, job, object);
        job.object = change.object;
        check_conditions(job);
        check_restarts(job);
        watch_deadline(text_at(object, {"metadata", "uid"}), job);
    }

    void job_removed(std::string_view who, JobLedger& job, const json::value& object) {
        if (job.removed) rules.violated("ttl", job.title + " was deleted twice");
        if (!deleting(job.object ? *job.object : object)) deletion_begins(who, job, object);
        job.removed = true;
    }

    void deletion_begins(std::string_view who, JobLedger& job, const json::value& object) {
        if (!by_operator(who)) return;
        const json::value* ttl = find_at(object, {"spec", "runPolicy", "ttlSecondsAfterFinished"});
        const auto completed = kube::parse_time(text_at(object, {"status", "completionTime"}));
        if (ttl == nullptr || !completed || !finished(object))
            return rules.violated("ttl", job.title + " was deleted by the operator without a TTL");
        const WallTime due = *completed + std::chrono::seconds(ttl->to_number<std::int64_t>());
        if (now() < due)
            rules.violated("ttl",
                           fmt::format("{} was deleted at {}, before {}", job.title,
                                       kube::format_micro_time(now()), kube::format_time(due)));
        if (suspended(object)) rules.violated("ttl", job.title + " was deleted while suspended");
    }

    void check_conditions(JobLedger& job) {
        const json::value& object = *job.object;
        const auto is = [&](std::string_view type) { return condition_of(object, type) == "True"; };
        for (const auto& [one, other] :
             {std::pair("Succeeded", "Failed"), std::pair("Running", "Restarting"),
              std::pair("Running", "Succeeded"), std::pair("Running", "Failed")})
            if (is(one) && is(other))
                rules.violated("exclusive",
                               fmt::format("{} is both {} and {}", job.title, one, other));
        const bool done = finished(object);
        if (done != !text_at(object, {"status", "completionTime"}).empty())
            rules.violated("completion-time",
                           fmt::format("{} is {}finished and has {}completionTime", job.title,
                                       done ? "" : "not ", done ? "no " : "a "));
        if (job.final_state) {
            const std::string state = done ? final_state(object) : "not finished any more";
            if (state != *job.final_state)
                rules.violated("final", fmt::format("{} had ended with {} and now shows {}",
                                                    job.title, *job.final_state, state));
        } else if (done) {
            job.final_state = final_state(object);
        }
    }

    void check_restarts(JobLedger& job) {
        const json::value* types = find_at(*job.object, {"status", "replicaStatuses"});
        if (types == nullptr || !types->is_object()) return;
        for (const auto& [type, status] : types->get_object()) {
            const std::int64_t told = number_at(status, {"restarts"});
            std::int64_t& before = job.told_restarts[lower(type)];
            if (told < before)
                rules.violated("restarts-fall",
                               fmt::format("{}: restarts of {} went from {} down to {}", job.title,
                                           std::string_view(type), before, told));
            before = told;
            const std::int64_t most = job.most_restarts(lower(type));
            if (told > most)
                rules.violated("restarts-most",
                               fmt::format("{}: {} restarts of {} are told, {} happened", job.title,
                                           told, std::string_view(type), most));
        }
    }

    void watch_deadline(std::string_view uid, JobLedger& job) {
        const json::value& object = *job.object;
        const json::value* seconds =
            find_at(object, {"spec", "runPolicy", "activeDeadlineSeconds"});
        const std::string_view start = text_at(object, {"status", "startTime"});
        const auto started = kube::parse_time(start);
        if (seconds == nullptr || !started || finished(object)) return;
        std::string about = fmt::format("{} {}", start, json::serialize(*seconds));
        if (about == job.deadline_for) return;
        job.deadline_for = std::move(about);
        on_deadline(std::string(uid),
                    *started + std::chrono::seconds(seconds->to_number<std::int64_t>()));
    }

    void check_deadline(const JobLedger& job) {
        if (job.removed || finished(*job.object) || suspended(*job.object)) return;
        const json::value* seconds =
            find_at(*job.object, {"spec", "runPolicy", "activeDeadlineSeconds"});
        const auto started = kube::parse_time(text_at(*job.object, {"status", "startTime"}));
        if (seconds == nullptr || !started) return;
        const WallTime due = *started + std::chrono::seconds(seconds->to_number<std::int64_t>());
        if (now() >= due + 1s)
            rules.violated("deadline",
                           fmt::format("{} has run since {}, its deadline is {} s, and it is not "
                                       "Failed",
                                       job.title, kube::format_time(*started),
                                       seconds->to_number<std::int64_t>()));
    }

    // --- pods

    void pod_changed(std::string_view who, const apiserver::StoreChange& change) {
        const json::value& pod = change.object ? *change.object : *change.previous;
        auto owner = jobs.find(std::string(owner_uid(pod)));
        if (owner == jobs.end()) return;
        JobLedger& job = owner->second;
        const std::pair id(std::string(label_of(pod, jobs::labels::kReplicaType)),
                           std::string(label_of(pod, jobs::labels::kReplicaIndex)));
        ReplicaEntry& replica = job.replicas[id];
        const std::string_view uid = text_at(pod, {"metadata", "uid"});
        auto entry = std::ranges::find(replica.pods, uid, &PodEntry::uid);
        if (entry == replica.pods.end()) {
            add_pod(job, replica, pod);
            entry = replica.pods.end() - 1;
        }
        entry->restarts = std::max(entry->restarts, restarts_of(pod));
        const bool gone = change.object == nullptr || deleting(pod);
        if (gone && !entry->ended && !pod_ended(pod) && !by_operator(who)) {
            // A node's own removal confirms what somebody asked for before.
            const bool first = change.previous == nullptr || !deleting(*change.previous) ||
                               change.object == nullptr;
            if (first && entry->live) entry->taken = true;
        }
        if (pod_ended(pod)) {
            entry->ended = true;
            entry->failed |= text_at(pod, {"status", "phase"}) == "Failed";
        }
        entry->live = !gone && !pod_ended(pod);
        if (!entry->live) return;
        for (const PodEntry& other : replica.pods)
            if (other.live && other.uid != entry->uid && other.generation == entry->generation)
                rules.violated("one-pod", fmt::format("{}: two live pods of {} {}", job.title,
                                                      id.first, id.second));
    }

    void add_pod(JobLedger& job, ReplicaEntry& replica, const json::value& pod) {
        PodEntry made{.uid = std::string(text_at(pod, {"metadata", "uid"}))};
        made.generation =
            number_of(text_at(pod, {"metadata", "annotations", jobs::annotations::kGeneration}));
        const PodEntry* before = replica.pods.empty() ? nullptr : &replica.pods.back();
        if (before != nullptr && before->calls_for_another() &&
            before->generation == made.generation)
            ++job.replacements;
        job.generation = std::max(job.generation, made.generation);
        replica.pods.push_back(std::move(made));
        if (job.object == nullptr) return;
        const json::value* limit = find_at(*job.object, {"spec", "runPolicy", "backoffLimit"});
        if (limit == nullptr) return;
        const auto most = std::max<std::int64_t>(0, limit->to_number<std::int64_t>() - 1);
        if (job.replacements + job.generation > most)
            rules.violated("backoff-limit",
                           fmt::format("{}: backoffLimit is {}, and restart {} was made", job.title,
                                       json::serialize(*limit), job.replacements + job.generation));
    }

    // --- the end

    void check_end(const JobLedger& job) {
        if (job.removed) return;
        const json::value& object = *job.object;
        check_deadline(job);
        if (!finished(object)) {
            const bool waits = suspended(object) && condition_of(object, "Suspended") == "True";
            if (!waits && !never_ends(object))
                rules.violated("ends", fmt::format("{} has not ended: {}", job.title,
                                                   json::serialize(object.at("status"))));
        } else if (const json::value* ttl =
                       find_at(object, {"spec", "runPolicy", "ttlSecondsAfterFinished"})) {
            const auto completed = kube::parse_time(text_at(object, {"status", "completionTime"}));
            if (completed && !suspended(object) &&
                now() > *completed + std::chrono::seconds(ttl->to_number<std::int64_t>()) + 2s)
                rules.violated("ttl", job.title + " outlived its TTL");
        }
        if (job.was_edited || in_groups(object)) return;
        for (const auto& [id, replica] : job.replicas) {
            auto told = job.told_restarts.find(id.first);
            const std::int64_t number = told == job.told_restarts.end() ? 0 : told->second;
            const std::int64_t least = job.least_restarts(id.first);
            if (number < least)
                rules.violated("restarts-least",
                               fmt::format("{}: {} restarts of {} are told, {} happened", job.title,
                                           number, id.first, least));
        }
    }
};

Invariants::Invariants(const Clock& clock, std::vector<std::string> except,
                       std::function<void(std::string uid, WallTime when)> on_deadline)
    : clock_(clock),
      except_(except.begin(), except.end()),
      state_(std::make_unique<State>(State{*this, std::move(on_deadline), {}, {}})) {}

Invariants::~Invariants() = default;

void Invariants::violated(std::string invariant, std::string what) {
    if (except_.contains(invariant)) return;
    violations_.push_back({clock_.now(), std::move(invariant), std::move(what)});
}

void Invariants::change(std::string_view who, const apiserver::StoreChange& change) {
    const bool pod = change.key.resource == "pods";
    if (pod || change.key.resource == "services") {
        if (change.object == nullptr)
            state_->dependents.erase(change.key);
        else
            state_->dependents[change.key] = owner_uid(*change.object);
    }
    if (pod) state_->pod_changed(who, change);
    if (is_job(change.key)) state_->job_changed(who, change);
}

void Invariants::deadline_passed(const std::string& uid) {
    auto job = state_->jobs.find(uid);
    if (job != state_->jobs.end()) state_->check_deadline(job->second);
}

void Invariants::at_end() {
    for (const auto& [uid, job] : state_->jobs) state_->check_end(job);
    for (const auto& [key, owner] : state_->dependents) {
        auto job = state_->jobs.find(owner);
        if (owner.empty() || (job != state_->jobs.end() && !job->second.removed)) continue;
        violated("ends",
                 fmt::format("{} {}/{} outlived its job", key.resource, key.namespace_, key.name));
    }
}

}  // namespace muster::sim
