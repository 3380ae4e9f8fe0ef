#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agent/launch/plan.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/rng.h"
#include "base/task_group.h"
#include "master/file_records.h"
#include "master/master.h"
#include "net/memory_stream.h"
#include "net/tls.h"

namespace muster::run {

/// What a plan means for the master of its job.
master::MasterOptions master_options(const agent::LaunchPlan& plan, std::string token,
                                     std::string name);

/// A job's master beside an agent, in its process. Owns the master and its records, which lie in
/// the agent's job directory. stop(), then destroy. Thread: the loop.
class HostedMaster {
  public:
    /// How it comes to be the job's master.
    enum class Start {
        kAsFirst,   ///< or with the record of one that was here before
        kTakesOver  ///< from another agent's: the job has a world already
    };

    HostedMaster(const asio::any_io_executor& executor, Clock& clock,
                 const std::filesystem::path& job_dir, Start start, master::MasterOptions options);
    ~HostedMaster();

    /// For the agents of other nodes; before start(). `tls` outlives this.
    void listen(std::unique_ptr<net::Listener> listener, net::TlsServerContext* tls);
    /// `ended` is told why it is no master any more without the job having ended.
    void start(std::function<void(const Error&)> ended);
    /// For the agent of this process.
    Result<std::unique_ptr<net::ByteStream>> connect();

    /// It claims its epoch, or serves.
    bool running() const { return running_; }
    /// Returns when the job has ended and its agents know, or the master has.
    Task<void> join() { return tasks_.join(); }
    Task<void> stop();
    /// After stop(): nobody will want it again. Otherwise the next master of the job goes on with
    /// it.
    void forget_record();

  private:
    HostedMaster(const asio::any_io_executor& executor, Clock& clock,
                 const std::filesystem::path& job_dir, Start start, master::MasterOptions options,
                 std::uint64_t epoch);

    Task<void> run(std::function<void(const Error&)> ended);

    std::filesystem::path record_;
    bool running_ = false;
    master::FileRecords records_;
    master::Master master_;
    std::shared_ptr<net::MemoryListener> near_;  ///< closed when the master has ended
    TaskGroup tasks_;
};

}  // namespace muster::run
