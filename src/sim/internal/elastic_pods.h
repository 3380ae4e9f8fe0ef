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

/// The pods of a world whose command is muster-run, by their jobs. Thread: one loop.
class ElasticPods {
  public:
    struct Options {
        std::uint64_t seed = 0;
        Training training = {};
        bool counts_are_exact = true;  ///< of ElasticJob
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
    /// By the uids of their jobs.
    const std::map<std::string, std::unique_ptr<ElasticJob>>& jobs() const { return jobs_; }

  private:
    ElasticJob* job_of(const json::value& pod);
    void pod_changed(const store::StoreChange& change);

    asio::any_io_executor executor_;
    Clock& clock_;
    Ledger& ledger_;
    Options options_;
    Rng rng_;
    std::map<std::string, std::unique_ptr<ElasticJob>> jobs_;
};

}  // namespace muster::sim
