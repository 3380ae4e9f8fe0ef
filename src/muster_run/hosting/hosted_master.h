#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/task_group.h"
#include "base/result.h"
#include "base/rng.h"
#include "base/time/clock.h"
#include "launch/plan.h"
#include "master/master.h"
#include "master/records.h"
#include "net/memory_stream.h"
#include "net/tls/tls.h"
#include "rpc/client.h"

namespace muster::run {

/// What a plan means for the master of its job, but for its name.
master::MasterOptions master_options(const launch::LaunchPlan& plan, std::string token);

/// Where a master is, and where others may be.
struct MasterPlace {
    std::unique_ptr<net::Listener> listener =
        {};                                ///< for other nodes' agents; null: there are none
    net::TlsServerContext* tls = nullptr;  ///< outlives the master
    /// To the other endpoints at which a master of the job may be.
    std::vector<rpc::Client::Connect> others = {};
    Duration ask_others_every = std::chrono::seconds(5);
};

/// Where the job's record is kept. A hosted master continues with it, and so does the next one.
struct RecordPlace {
    /// The record for one life of a master, as FileRecords has it.
    std::function<std::unique_ptr<master::Records>(
        std::uint64_t first, std::shared_ptr<const job_protocol::JobRecord> known)>
        open;
    /// No master will need it again.
    std::function<void()> forget;
};
/// A file in the agent's job directory.
RecordPlace record_in(const std::filesystem::path& job_dir);

/// A job's master beside an agent, in its process. Owns the master and its records. If there is
/// another master, one of the two gives way (master/split_brain.h): this one ends, or starts again
/// with a newer epoch and takes over what its agents run. So it does after a fault. stop(), then
/// destroy. Thread: the loop.
class HostedMaster {
  public:
    /// How it comes to be the job's master.
    enum class Start {
        kAsFirst,   ///< or with the record of one that was here before
        kTakesOver  ///< from another agent's: the job has a world already
    };
    /// What its agent has heard of masters before.
    struct Heard {
        std::uint64_t epoch = 0;  ///< the newest; this master's is newer
        /// The newest record that it was told.
        std::shared_ptr<const job_protocol::JobRecord> record = {};
    };

    HostedMaster(const asio::any_io_executor& executor, Clock& clock, Rng& rng, RecordPlace record,
                 master::MasterOptions options, MasterPlace place);
    ~HostedMaster();

    /// Once. `ended` is told why it is no master any more without the job having ended.
    void start(Start start, Heard heard, std::function<void(const Error&)> ended);
    /// For the agent of this process.
    Result<std::unique_ptr<net::ByteStream>> connect();

    /// It claims its epoch, or serves.
    bool running() const { return running_; }
    /// Null until an epoch is claimed.
    const master::Job* job() const;
    /// Returns when the job has ended and its agents know, or the master has.
    Task<void> join() { return tasks_.join(); }
    Task<void> stop();
    /// After stop(): no master will need it again. Otherwise the job's next master continues
    /// with it.
    void forget_record() { record_.forget(); }

  private:
    struct Life;

    void begin_life(Start start, Heard heard);
    void stop_listening();
    Task<void> run(std::function<void(const Error&)> ended);
    Task<Result<job_protocol::Verdict>> live();

    asio::any_io_executor executor_;
    Clock& clock_;
    Rng& rng_;
    RecordPlace record_;
    master::MasterOptions options_;
    MasterPlace place_;
    std::shared_ptr<net::Listener> listener_;  ///< of all lives: who connects between two waits
    bool running_ = false;
    std::uint64_t epoch_ = 0;   ///< from which the life claims its own
    bool life_failed_ = false;  ///< by a fault: another one takes over
    std::unique_ptr<Life> life_;
    TaskGroup tasks_;
};

}  // namespace muster::run
