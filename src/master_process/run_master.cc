#include "master_process/run_master.h"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "base/async/first_of.h"
#include "base/async/run_to_end.h"
#include "base/async/task_group.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/time/real_clock.h"
#include "base/time/restarting_task.h"
#include "kube/client/client.h"
#include "kube/client_config/in_cluster_config.h"
#include "kube/client_config/server_connection.h"
#include "master/file_records.h"
#include "master/master.h"
#include "master_process/credentials.h"
#include "master_process/life.h"
#include "master_process/plans/plan_object.h"
#include "master_process/records/config_map_records.h"
#include "master_process/records/life_records.h"
#include "master_process/wanted_nodes/wanted_nodes.h"
#include "net/tcp.h"
#include "process/core_dumps.h"

namespace muster::master_process {
namespace {

constexpr int kSucceeded = 0;
constexpr int kFailed = 1;
constexpr int kRefused = 2;
constexpr int kNotServed = 3;
constexpr int kSignalled = 128;

int fail(int status, std::string_view what) {
    fmt::print(stderr, "muster master: {}\n", what);
    return status;
}

/// What a master needs of this process, for one life of it after another: only a fault of the
/// program ends one that is followed by another.
class MasterProcess {
  public:
    MasterProcess(asio::io_context& context, const Arguments& arguments, Credentials credentials,
                  std::unique_ptr<kube::ServerConnection> server)
        : executor_(context.get_executor()),
          arguments_(arguments),
          credentials_(std::move(credentials)),
          server_(std::move(server)),
          signals_(context, SIGINT, SIGTERM),
          rng_(Rng::from_system()),
          watches_(executor_),
          tasks_(executor_) {
        if (server_) client_.emplace(server_->objects(), "muster-master");
        if (!arguments_.job_object.empty())
            wanted_nodes_ =
                std::make_unique<WantedNodes>(*client_, clock_, rng_, followed_job(arguments));
        if (!arguments_.plan_object.empty())
            plan_ =
                std::make_unique<PlanObject>(executor_, *client_, clock_, plan_place(arguments));
    }

    /// The exit status.
    Task<int> run();

  private:
    Task<void> serve();
    Task<void> until_signal();
    Task<void> live();
    std::unique_ptr<master::Records> open_records(std::uint64_t first);
    master::MasterOptions options(std::uint64_t first);
    void take(const Result<job_protocol::Verdict>& ended);

    asio::any_io_executor executor_;
    const Arguments& arguments_;
    RealClock clock_;
    Credentials credentials_;
    std::unique_ptr<kube::ServerConnection> server_;
    std::optional<kube::Client> client_;
    asio::signal_set signals_;
    Rng rng_;
    std::unique_ptr<WantedNodes> wanted_nodes_;  ///< null: agents alone say how many there are
    std::unique_ptr<PlanObject> plan_;           ///< null: it has no wishes
    std::unique_ptr<net::Listener> listener_;    ///< until a life has it
    std::unique_ptr<master::Records> kept_;
    std::unique_ptr<LifeRecords> records_;
    std::unique_ptr<master::Master> master_;
    int status_ = kNotServed;
    TaskGroup watches_;
    TaskGroup tasks_;
};

Task<int> MasterProcess::run() {
    auto listener = net::listen_tcp_everywhere(executor_, arguments_.port);
    if (listener) {
        listener_ = *std::move(listener);
        log::info("the master of a job starts",
                  {{"job", arguments_.job}, {"listens", listener_->address()}});
        co_await first_of(serve(), until_signal());
        co_await tasks_.stop();
        co_await watches_.stop();
        if (master_) co_await master_->stop();
        master_.reset();
    } else {
        fail(kNotServed, fmt::format("--port {}: {}", arguments_.port, listener.error().message()));
    }
    if (server_) co_await server_->stop();
    co_return status_;
}

Task<void> MasterProcess::until_signal() {
    const int signal = co_await signals_.async_wait(asio::use_awaitable);
    log::info("the master stops, and the job does not", {{"signal", signal}});
    status_ = kSignalled + signal;
}

Task<void> MasterProcess::serve() {
    if (wanted_nodes_) wanted_nodes_->start(watches_);
    if (plan_) plan_->start(watches_);
    spawn_restarting(tasks_, clock_, "master", [this] { return live(); });
    co_await tasks_.join();
}

/// Until the job has ended, or another master takes over.
Task<void> MasterProcess::live() {
    if (master_) co_await master_->stop();
    master_.reset();
    if (!listener_) {
        auto again = net::listen_tcp_everywhere(executor_, arguments_.port);
        if (!again) {
            fail(kNotServed, again.error().message());
            co_return;
        }
        listener_ = *std::move(again);
    }
    const std::uint64_t first = first_epoch(clock_.wall_now());
    kept_ = open_records(first);
    records_ = std::make_unique<LifeRecords>(*kept_, clock_, arguments_.begin_again);
    master_ =
        std::make_unique<master::Master>(executor_, clock_, records_->records(), options(first));
    master_->listen(std::move(listener_), credentials_.server.get());
    take(co_await master_->run());
}

std::unique_ptr<master::Records> MasterProcess::open_records(std::uint64_t first) {
    if (client_)
        return std::make_unique<ConfigMapRecords>(*client_, clock_, arguments_.namespace_,
                                                  arguments_.record_object, first);
    return std::make_unique<master::FileRecords>(arguments_.records_file, first);
}

master::MasterOptions MasterProcess::options(std::uint64_t first) {
    master::MasterOptions options = master_options(arguments_, first, credentials_.token, rng_);
    if (wanted_nodes_)
        options.services.emplace_back([this](const master::ServiceContext& context) {
            return wanted_nodes_->service(context);
        });
    if (plan_)
        options.services.emplace_back(
            [this](const master::ServiceContext& context) { return plan_->service(context); });
    return options;
}

void MasterProcess::take(const Result<job_protocol::Verdict>& ended) {
    if (!ended) {
        log::warning("this process is the job's master no more",
                     {{"why", ended.error().message()}});
        return;
    }
    const bool succeeded = ended->kind == job_protocol::Verdict::Kind::kSucceeded;
    status_ = succeeded ? kSucceeded : kFailed;
    log::info(succeeded ? "the job has succeeded" : "the job has failed", {{"why", ended->text}});
}

}  // namespace

Result<kube::ClientConfig> access_in_pod(const std::vector<std::string>& environment) {
    TRY(std::optional<kube::ClientConfig> found, kube::in_cluster_config(environment));
    if (found) return *std::move(found);
    return Error(
        Code::kInvalid,
        "--record-object needs an API server, and this is no pod with a token of its service "
        "account");
}

int run_master(const Arguments& given, std::vector<std::string> environment,
               const FindAccess& find_access) {
    process::forbid_core_dumps();
    log::set_level(log::Level::kInfo);
    std::signal(SIGPIPE, SIG_IGN);  // a client that goes away is seen as a failed write
    Arguments arguments = given;
    asio::io_context context(1);
    RealClock clock;
    auto credentials = Credentials::read(arguments, environment, clock);
    if (!credentials) return fail(kRefused, credentials.error().message());
    std::unique_ptr<kube::ServerConnection> server;
    if (!arguments.record_object.empty()) {
        auto access = find_access(arguments);
        if (!access) return fail(kRefused, access.error().message());
        if (arguments.namespace_.empty()) arguments.namespace_ = access->namespace_;
        auto opened = kube::ServerConnection::open(*std::move(access), std::move(environment),
                                                   context.get_executor(), clock);
        if (!opened) return fail(kNotServed, opened.error().message());
        server = *std::move(opened);
    }
    MasterProcess process(context, arguments, *std::move(credentials), std::move(server));
    return run_to_end(context, process.run());
}

}  // namespace muster::master_process
