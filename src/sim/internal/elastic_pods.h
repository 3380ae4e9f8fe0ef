#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/rng.h"
#include "sim/internal/elastic_job.h"
#include "sim/ledger/ledger.h"
#include "sim/pod_program.h"
#include "sim/scenario.h"
#include "store/store.h"

namespace muster::sim {

/// The pods of a world whose command is muster-run, or that of a master of such pods, by their jobs. Thread: one loop.
class ElasticPods {
  public:
    struct Options {
        std::uint64_t seed = 0;
        Training training = {};
        bool counts_are_exact = true;  ///< of ElasticJob, as is the next one
        std::function<std::shared_ptr<ApiOfPod>()> reach_api = {};
    };

    /// Clock and ledger outlive this.
    ElasticPods(asio::any_io_executor executor, Clock& clock, Ledger& ledger, Options options);
    ~ElasticPods();

    /// A StartProgram of SimulatedNodes.
    std::unique_ptr<PodProgram> start(const json::value& pod, const PodPlace& place,
                                      std::function<void(std::int32_t)> ended);
    /// A change of the API was committed.
    void committed(const store::StoreChange& change);
    void at_end();
    Task<void> stop();

    /// Those in which muster-run runs now.
    std::vector<ElasticPod*> running() const;
    /// Those in which a master runs now.
    std::vector<MasterPod*> masters() const;
    /// When something happened last to agents and masters of that job.
    Instant happened_in(const std::string& uid) const;
    /// By the uids of their jobs.
    const std::map<std::string, std::unique_ptr<ElasticJob>>& jobs() const { return jobs_; }

  private:
    ElasticJob* job_of(const json::value& pod);
    std::unique_ptr<PodProgram> start_agent(const json::value& pod, const PodPlace& place,
                                            const launch::LaunchPlan& plan,
                                            std::function<void(std::int32_t)> ended);
    std::unique_ptr<PodProgram> start_master(const json::value& pod, const PodPlace& place,
                                             const master_process::Arguments& arguments,
                                             std::function<void(std::int32_t)> ended);
    void refused(const json::value& pod, const Error& error);
    void record_changed(const json::value& object, bool is_there);
    void pod_changed(const store::StoreChange& change);

    asio::any_io_executor executor_;
    Clock& clock_;
    Ledger& ledger_;
    Options options_;
    Rng rng_;
    std::map<std::string, std::unique_ptr<ElasticJob>> jobs_;
};

}  // namespace muster::sim
