#pragma once

#include <fmt/format.h>

#include <boost/json/parse.hpp>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time/sim_clock.h"
#include "kube/values/time.h"
#include "sim/invariants.h"

namespace muster::sim {

using namespace std::chrono_literals;

inline constexpr const char* kRunning = R"({"status":{"phase":"Running"}})";
inline constexpr const char* kFailed = R"({"status":{"phase":"Failed"}})";

/// Hand-made changes of one job "j" and its pods.
class Changes {
  public:
    /// When all was told that there is to tell, the rules that were broken, in order.
    std::vector<std::string> broken() const {
        std::vector<std::string> names;
        for (const Violation& violation : ledger_.violations())
            names.push_back(violation.invariant);
        return names;
    }
    std::vector<std::string> end() {
        rules_.at_end();
        return broken();
    }

    void job(std::string_view changes, std::string_view who = "operator-1") {
        merge(job_, json::parse(changes));
        tell(who, "pytorchjobs.kubeflow.org", "j", job_);
    }
    /// The object in which its masters keep their record is written.
    void record(std::string_view who) {
        tell(who, "configmaps", "record",
             json::object{{"metadata",
                           {{"ownerReferences",
                             json::array{json::object{{"uid", "job"}, {"controller", true}}}}}}});
    }
    /// A ScalePlan, whose name is its uid.
    void plan(std::string_view name, std::string_view changes, std::string_view who = "user") {
        json::value object = json::object{{"metadata", {{"uid", name}, {"generation", 1}}}};
        merge(object, json::parse(changes));
        tell(who, "scaleplans.elastic.iml.github.io", std::string(name), object);
    }
    void remove_job(std::string_view who) { tell(who, "pytorchjobs.kubeflow.org", "j", nullptr); }
    /// Its name is its uid; the replica is worker `index`.
    void pod(const std::string& uid, int index, std::string_view changes = "{}",
             std::string_view who = "nodes") {
        json::value& object = pods_[uid];
        if (object.is_null()) {
            object = json::parse(fmt::format(
                R"({{"metadata":{{"uid":"{}","labels":{{"training.kubeflow.org/replica-type":"worker",
                    "training.kubeflow.org/replica-index":"{}"}},
                    "ownerReferences":[{{"uid":"job","controller":true}}]}}}})",
                uid, index));
            who = "operator-1";
        }
        merge(object, json::parse(changes));
        tell(who, "pods", uid, object);
    }
    void remove_pod(const std::string& uid, std::string_view who = "operator-1") {
        tell(who, "pods", uid, nullptr);
    }
    /// `failed` runs and fails, and the operator puts `next` in its place.
    void replaced(const std::string& failed, int index, const std::string& next,
                  std::string_view changes = "{}") {
        pod(failed, index, kRunning);
        pod(failed, index, kFailed);
        remove_pod(failed);
        pod(next, index, changes);
    }
    void leads(const std::string& who) {
        tell(who, "leases", "muster-operator",
             json::object{{"spec", {{"holderIdentity", who + "#1"}}}});
    }
    /// Something happens to the agents of the job.
    void agents_act() { agents_acted_ = clock_.now(); }
    /// Of the operator, or of another: it knows what stands in the API, and no more.
    void begins_anew() { ++terms_; }
    void deadline_passed() { rules_.deadline_passed("job"); }
    void wait(Duration duration) { clock_.advance_to(clock_.now() + duration); }
    void set_calendar(Duration by) {
        clock_.skew_wall(by);
        rules_.calendar_set(by);
    }
    std::string time() const { return kube::format_time(clock_.wall_now()); }
    bool asked_for_deadline() const { return asked_for_deadline_; }

    Changes() : Changes({}, false) {}
    Changes(std::vector<std::string> except, bool forgetful)
        : ledger_(clock_, std::move(except)),
          rules_(
              clock_, ledger_,
              {.on_deadline = [this](const std::string&, WallTime) { asked_for_deadline_ = true; },
               .seen_before = [] { return Instant::max(); },
               .forgetful = forgetful,
               .terms = [this] { return terms_; },
               .election = true,
               .longest_request = 3s,
               .happened_in = [this](const std::string&) { return agents_acted_; }}) {
        job(R"({"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","metadata":{"uid":"job","generation":1},"status":{},
                "spec":{"pytorchReplicaSpecs":{"Worker":{"restartPolicy":"OnFailure"}}}})",
            "user");
    }

  private:
    /// As a merge patch.
    static void merge(json::value& target, const json::value& patch) {
        if (!patch.is_object()) {
            target = patch;
            return;
        }
        if (!target.is_object()) target.emplace_object();
        for (const auto& [key, value] : patch.get_object()) {
            if (value.is_null())
                target.get_object().erase(key);
            else
                merge(target.get_object()[key], value);
        }
    }
    void tell(std::string_view who, std::string resource, const std::string& name,
              const json::value& object) {
        store::StoreChange change;
        change.key = {.resource = std::move(resource), .namespace_ = "default", .name = name};
        change.revision = ++revision_;
        kube::ObjectPtr& shown = shown_[change.key.resource + name];
        change.previous = shown;
        if (!object.is_null()) change.object = std::make_shared<const json::value>(object);
        shown = change.object;
        rules_.change(who, change);
    }

    SimClock clock_;
    bool asked_for_deadline_ = false;
    Instant agents_acted_{};
    std::uint64_t terms_ = 1;
    Ledger ledger_;
    Invariants rules_;
    json::value job_;
    std::map<std::string, json::value> pods_;
    std::map<std::string, kube::ObjectPtr> shown_;
    store::Revision revision_ = 0;
};

}  // namespace muster::sim
