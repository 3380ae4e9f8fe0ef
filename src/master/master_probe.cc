#include "master/master_probe.h"

#include <utility>

#include "base/async/then_stop.h"
#include "base/time/restarting_task.h"
#include "job_protocol/protocol.h"
#include "rpc/method.h"

namespace muster::master {

void MasterProbe::start(TaskGroup& tasks, const std::vector<rpc::Client::Connect>& others) {
    for (const rpc::Client::Connect& other : others)
        spawn_restarting(tasks, clock_, "ask for another master",
                         [this, &tasks, other] { return ask(tasks.executor(), other); });
}

Task<void> MasterProbe::ask(asio::any_io_executor executor, rpc::Client::Connect connect) {
    for (;;) {
        co_await clock_.sleep_for(options_.every);
        // One connection per question: usually there is no master, or only for a moment.
        TaskGroup tasks(executor);
        rpc::Client client(connect, clock_, rng_, tasks,
                           {.token = options_.token,
                            .name = rng_.uuid(),
                            .about = "another master of the job",
                            .limits = options_.rpc});
        co_await then_stop(ask_once(client), tasks);
    }
}

Task<void> MasterProbe::ask_once(rpc::Client& client) {
    // Not earlier: if this is cancelled on the way here, nothing must have been started.
    client.start();
    const auto answer = co_await rpc::call(client, job_protocol::kMasterClaim,
                                           to_wire(master_.claim()), options_.every);
    // Usually there is no other master, and that is fine.
    if (answer) master_.met(job_protocol::from_wire(*answer));
}

}  // namespace muster::master
