#pragma once

#include <string>
#include <vector>

#include "base/async/async.h"
#include "base/async/task_group.h"
#include "base/rng.h"
#include "base/time/clock.h"
#include "master/master.h"
#include "rpc/client.h"

namespace muster::master {

/// Repeatedly asks every other place where a master of the job could run, and tells our own master
/// what it finds. The same call tells the other master about ours.
///
/// Clock, rng, master and the group must outlive the tasks it starts, and so must this object.
/// Thread: the loop.
class MasterProbe {
  public:
    struct Options {
        std::string token;  ///< of the job
        Duration every = std::chrono::seconds(5);
        rpc::ClientLimits rpc = {};
    };

    MasterProbe(Clock& clock, Rng& rng, Master& master, Options options)
        : clock_(clock), rng_(rng), master_(master), options_(std::move(options)) {}

    /// Starts one task for each place.
    void start(TaskGroup& tasks, const std::vector<rpc::Client::Connect>& others);

  private:
    Task<void> ask(asio::any_io_executor executor, rpc::Client::Connect connect);
    Task<void> ask_once(rpc::Client& client);

    Clock& clock_;
    Rng& rng_;
    Master& master_;
    Options options_;
};

}  // namespace muster::master
