// The master of a job, alone in its process, as an agent would host it.

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <utility>

#include "base/async/task_group.h"
#include "base/rng.h"
#include "base/time/real_clock.h"
#include "elastic_bench.h"
#include "master/file_records.h"
#include "master/master.h"
#include "muster_run/hosting/hosted_master.h"
#include "net/tcp.h"

namespace muster::elastic {
namespace {

/// Says when an incident was decided: it is written down before anything follows from it.
class WatchedRecords final : public master::Records {
  public:
    WatchedRecords(Clock& clock, const std::string& path) : clock_(clock), file_(path) {}

    Task<Result<job_protocol::JobRecord>> claim() override { return file_.claim(); }
    Task<Result<void>> write(job_protocol::JobRecord record) override {
        if (record.incidents.size() > known_) report("incident", seconds(clock_.now()));
        known_ = record.incidents.size();
        return file_.write(std::move(record));
    }

  private:
    Clock& clock_;
    master::FileRecords file_;
    std::size_t known_ = 0;
};

Task<void> serve(master::Master& master) { must(co_await master.run(), "the master"); }

Task<void> until_input_ends(asio::any_io_executor executor, TaskGroup& tasks,
                            master::Master& master) {
    Commands commands(executor);
    while (co_await commands.next() != '\0') continue;
    co_await tasks.stop();
    co_await master.stop();
}

}  // namespace

void serve_master(int agents, const std::string& folder, const Files& files) {
    asio::io_context context(1);
    const asio::any_io_executor executor = context.get_executor();
    RealClock clock;
    WatchedRecords records(clock, folder + "/record");
    launch::LaunchPlan plan;
    plan.nodes = {.least = agents, .most = agents};
    // With a limit what was charged is written down.
    plan.budgets[static_cast<std::size_t>(job_protocol::Charge::kWorker)].incidents = 1000;
    Rng rng = Rng::from_system();
    master::MasterOptions options = run::master_options(plan, std::string(kToken));
    options.name = rng.uuid();
    master::Master master(executor, clock, records, std::move(options));
    auto listener = must(net::listen_tcp(executor, "127.0.0.1", 0), "a port");
    const std::string address = listener->address();
    std::unique_ptr<net::TlsServerContext> tls;
    if (!files.certificate.empty())
        tls = must(
            net::TlsServerContext::create(clock, {.certificate_pem = must_read(files.certificate),
                                                  .key_pem = must_read(files.key)}),
            "TLS");
    master.listen(std::move(listener), tls.get());
    TaskGroup tasks(executor);
    tasks.spawn("master", serve(master));
    TaskGroup ends(executor);
    ends.spawn("end", until_input_ends(executor, tasks, master));
    report("port", std::stod(address.substr(address.rfind(':') + 1)));
    context.run();
}

}  // namespace muster::elastic
