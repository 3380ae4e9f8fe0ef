#pragma once

#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/task_group.h"
#include "base/rng.h"
#include "kube/values/json.h"
#include "launch/plan.h"
#include "master/memory_records.h"
#include "sim/elastic/invariants.h"
#include "sim/internal/elastic_pod.h"
#include "sim/internal/programs/master_pod.h"
#include "sim/ledger/ledger.h"
#include "sim/pod_program.h"

namespace muster::sim {

/// One job of the API whose pods run muster-run, and perhaps its master in others: the network between
/// its pods, the progress of its training, the invariants of agents and masters, and those that hold between them and the API:
///
/// - "success": the job is Succeeded only if a master has said that it succeeded;
/// - "real-restarts": no more restarts are counted than containers have ended, or were out of reach;
/// - "one-world": workers of two generations run beside each other only for a moment, or while
///   something is wrong with a node of theirs, the way to a master or a master's way to its record;
/// - "workers-end": none runs when the job is over for long.
///
/// Thread: one loop.
class ElasticJob {
  public:
    struct Options {
        Duration work;  ///< for which all workers of a world have to run
        Duration record_time = std::chrono::milliseconds(1);
        /// Operators count each restart once: none forgets, and there is but one.
        bool counts_are_exact = true;
        /// A new way from a pod to the API. Empty: there is none.
        std::function<std::shared_ptr<ApiOfPod>()> reach_api = {};
    };

    /// Clock, rng and ledger outlive this. `title` is for people.
    ElasticJob(const asio::any_io_executor& executor, Clock& clock, Rng& rng, Ledger& ledger,
               std::string title, Options options);
    ~ElasticJob();

    /// That of this uid, which is made when it is new.
    ElasticPod& pod_of(const json::value& pod, const launch::LaunchPlan& plan,
                       const PodPlace& place, elastic::SimulatedWorkers::Times times);
    /// The same of a pod of its master.
    MasterPod& master_of(const json::value& pod, const PodPlace& place);
    /// Its containers start.
    void start(ElasticPod& pod, const launch::LaunchPlan& plan,
               std::function<void(std::int32_t)> ended);
    /// One of its containers does not run any more, or is about to end, or is out of reach; once
    /// for each start.
    void lost_container() { ++containers_ended_; }
    /// Kills what runs. Everything has ended when this returns.
    Task<void> stop();

    // ---- what the API shows
    void job_changed(const json::value& job);
    void job_removed() { over_ = true; }
    /// A pod of it failed, or else is to go. It counts as ended if nothing runs in it that ends by
    /// that, as before its start, or on a machine that is cut off.
    void pod_given_up(const std::string& uid, bool failed);
    /// The object in which its masters keep their record; null: it was deleted.
    void record_changed(const json::value* object);
    void at_end();

    // ---- what there is
    std::list<std::unique_ptr<ElasticPod>>& pods() { return pods_; }
    std::list<std::unique_ptr<MasterPod>>& masters() { return masters_; }
    /// How its records fail, from now on; empty: not at all.
    void set_record_faults(master::MemoryRecords::Faults faults);
    /// Where the record may be.
    void set_api_away(bool so);
    elastic::Invariants& rules() { return rules_; }

  private:
    /// A file in a container.
    struct Record {
        master::MemoryRecords kept;
        std::size_t number;
    };
    struct Told {
        Instant at;
        std::int64_t restarts;
    };

    Task<Result<std::unique_ptr<net::ByteStream>>> reach_master();
    run::RecordPlace new_record();
    void look_at_ways_to_records();
    void masters_changed();
    void look_at_masters();
    void look_at_master(const master::Job& job);
    Task<void> train();
    void look();
    void progress(Duration time);
    void look_at_worlds();
    void look_at_restarts(Instant until);

    Clock& clock_;
    std::string title_;
    Options options_;
    elastic::Invariants rules_;
    TaskGroup graves_;
    TaskGroup tasks_;
    ElasticPod::Job of_pods_;
    MasterPod::Job of_masters_;
    std::list<std::unique_ptr<ElasticPod>> pods_;
    std::list<std::string> uids_;  ///< of pods_, in the same order
    std::list<std::unique_ptr<MasterPod>> masters_;
    std::list<std::string> master_uids_;  ///< of masters_, in the same order
    std::list<Record> records_;
    std::optional<std::size_t> record_in_api_;  ///< its number
    std::optional<master::JobOptions> terms_;   ///< the widest that its agents have told
    master::MemoryRecords::Faults record_faults_;
    bool api_is_away_ = false;
    std::optional<launch::Rendezvous> rendezvous_;
    bool training_ = false;  ///< train() runs
    Duration done_ = {};     ///< of the work
    bool finished_ = false;
    std::optional<Instant> mixed_since_;
    std::int64_t containers_ended_ = 0;
    std::int64_t most_told_ = 0;
    std::deque<Told> told_;
    std::vector<std::string> given_up_;
    bool over_ = false;  ///< the job, by the API
};

}  // namespace muster::sim
