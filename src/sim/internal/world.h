#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/api_server.h"
#include "base/fault.h"
#include "base/time/sim_clock.h"
#include "base/unexpected.h"
#include "kube/client/client.h"
#include "sim/internal/elastic_pods.h"
#include "sim/internal/job_times.h"
#include "sim/internal/operator_life.h"
#include "sim/internal/training_fault_injector.h"
#include "sim/internal/user.h"
#include "sim/simulated_nodes.h"
#include "sim/world.h"

namespace muster::sim {

/// Everything of one run. Made, run() once, destroyed.
class World {
  public:
    World(const Scenario& scenario, const SimulationOptions& options);
    ~World();

    Result<SimulationOutcome> run();

  private:
    const UnexpectedEndsProcess unexpected_ends_process_;
    template <class T>
    T wait(Task<T> task);
    void wait(Task<void> task);
    void run_until(Instant until) { run_simulation(context_, clock_, until); }

    Task<Result<void>> set_up();
    Task<void> submit_all();
    Task<void> submit(GeneratedJobs jobs);
    void start_faults();
    void start_node_faults();
    void start_training_faults();
    void start_user_actions();
    void end_faults();
    Task<void> make_an_end();

    void start_operator(std::size_t index);
    void crash_operator(std::size_t index, Duration pause);
    Task<void> replace_operator(std::size_t index, Duration pause);
    void stop_everything();

    TransportFaults operator_faults_now() const;
    std::shared_ptr<ApiOfPod> api_of_pod();
    /// As they are now, on all ways to the API but the user's.
    void set_api_faults();
    void set_api_away(bool so);
    Task<void> lose_api(DurationRange lasts);
    std::uint64_t writes() const;

    PodLife life_of_pod(const PodIdentity& pod, int start) const;
    void committed(const store::StoreChange& change);
    Instant seen_before() const;
    void watch_deadline(const std::string& uid, WallTime when);
    Task<void> await_deadline(std::string uid, WallTime when);
    TransportHooks hooks_of(std::string name);
    void note(std::string what);
    SimulationOutcome outcome();

    /// Runs `act` again and again while faults happen.
    void recurring(const char* name, const Recurring& how, std::function<Task<void>(World&)> act);
    Task<void> repeat(Recurring how, std::function<Task<void>(World&)> act);
    Task<void> lose_a_node(bool dead, DurationRange lasts);
    Task<void> delay_a_node(DurationRange by, DurationRange lasts);

    const Scenario& scenario_;
    const std::uint64_t seed_;
    asio::io_context context_{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE};  // all on one thread
    SimClock clock_;
    History history_;
    JobTimes job_times_;
    Ledger ledger_;
    Invariants invariants_;
    std::string writer_;  ///< whose call is being carried out right now
    std::uint64_t pods_made_ = 0;

    // One generator a part: a change in one does not shift the others.
    Rng api_rng_;
    Rng nodes_rng_;
    Rng fault_rng_;
    Rng job_rng_;

    apiserver::ApiServer api_;
    FaultyTransport user_transport_;
    FaultyTransport node_transport_;
    std::vector<std::shared_ptr<ApiOfPod>> pod_apis_;  ///< of pods that are gone, too
    bool api_is_away_ = false;
    Instant api_went_at_{};  ///< the last time, as is the next one
    Instant api_back_at_{};
    ElasticPods elastic_pods_;
    TrainingFaultInjector training_fault_injector_;
    SimulatedNodes nodes_;
    User user_;
    std::vector<std::unique_ptr<OperatorLife>> operators_;  ///< null: crashed
    std::vector<Instant> up_since_;
    std::string leader_;             ///< whom the Lease names
    Instant leads_since_{};          ///< when it was named first
    std::uint64_t lives_ = 0;        ///< of operators, so far
    std::uint64_t terms_ = 0;        ///< in which one acted; one that leads again has two
    std::uint64_t past_writes_ = 0;  ///< of dead operators
    TaskGroup faults_;               ///< ends when faults do
    TaskGroup tasks_;
    std::optional<FaultPlan> fault_plan_;
    bool faults_happen_ = true;
    Instant calm_since_{};  ///< no fault has come between operator and API since
};

}  // namespace muster::sim
