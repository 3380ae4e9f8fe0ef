#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/worker_state.h"
#include "base/async/async.h"
#include "base/result.h"
#include "base/rng.h"
#include "base/time/clock.h"
#include "launch/endpoint.h"
#include "launch/plan.h"
#include "muster_run/hosting/connection.h"
#include "muster_run/hosting/credentials.h"
#include "muster_run/hosting/hosted_master.h"
#include "muster_run/hosting/master_seat.h"
#include "net/byte_stream.h"
#include "net/name_lookup.h"

namespace muster::run {

/// The job's master, as this node's agent reaches it: here, or at one of the job's endpoints. Hosts
/// it where that is this node's part: from the start if the job has one node or the first endpoint
/// is this machine's, and later when no master answers and it is this node's turn
/// (master_seat.h).
///
/// Owns the master that it hosts. stop(), then destroy; also after an open() that failed. Thread:
/// the loop.
class MasterAccess {
  public:
    /// What is passed as a reference outlives this.
    MasterAccess(const asio::any_io_executor& executor, Clock& clock, Rng& rng,
                 net::NameLookup& names, const launch::LaunchPlan& plan,
                 const Credentials& credentials, std::filesystem::path job_dir);

    /// Once, before anything else: finds out what this node may host, and hosts the master if it is
    /// the first one. An endpoint whose name has no address yet is looked up again until it has. An
    /// error names the endpoint that can't be had. `guessed_addresses`: JobOptions has it.
    Task<Result<void>> open(launch::NodeNames node,
                            std::vector<std::string> guessed_addresses = {});
    /// The job's next master may be here.
    bool can_host() const { return !seat_.turn().candidates().empty(); }

    /// The address by which this machine has reached a master elsewhere; empty: it has reached none.
    const std::string& local_host() const { return connector_.local_host(); }

    /// For the agent: a connection to the master, which this node may host from now on. `agent`
    /// outlives the call.
    Task<Result<std::unique_ptr<net::ByteStream>>> connect(const agent::WorkerState& agent);

    /// While a master is here: returns when the job has ended and its agents know, or the master
    /// has.
    Task<void> join();
    Task<void> stop();
    /// After stop(): the job is over.
    void forget_record();

  private:
    Task<void> find_candidates();
    Task<Result<bool>> host_late(const agent::WorkerState& agent);
    Result<MasterPlace> place_at(std::size_t endpoint);
    Result<std::unique_ptr<HostedMaster>> make(std::optional<std::size_t> endpoint);

    asio::any_io_executor executor_;
    Clock& clock_;
    Rng& rng_;
    net::NameLookup& names_;
    const launch::LaunchPlan& plan_;
    const Credentials& credentials_;
    std::filesystem::path job_dir_;
    MasterConnector connector_;
    MasterSeat seat_;
    launch::NodeNames node_;
    std::vector<std::string> guessed_addresses_;
    bool names_are_known_ = true;  ///< every endpoint's name had an address
};

}  // namespace muster::run
