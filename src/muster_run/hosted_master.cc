#include "muster_run/hosted_master.h"

#include <chrono>
#include <system_error>
#include <utility>

#include "base/log.h"

namespace muster::run {
namespace {

/// The master's share of a listener that others know as well.
class SharedListener final : public net::Listener {
  public:
    explicit SharedListener(std::shared_ptr<net::MemoryListener> listener)
        : listener_(std::move(listener)) {}
    ~SharedListener() override { listener_->close(); }

    Task<Result<std::unique_ptr<net::ByteStream>>> accept() override { return listener_->accept(); }
    void close() override { listener_->close(); }
    std::string address() const override { return listener_->address(); }

  private:
    std::shared_ptr<net::MemoryListener> listener_;
};

}  // namespace

master::MasterOptions master_options(const agent::LaunchPlan& plan, std::string token,
                                     std::string name) {
    master::MasterOptions options;
    options.job.membership.min_nodes = plan.nodes.least;
    options.job.membership.max_nodes = plan.nodes.most;
    options.job.membership.node_unit = plan.node_unit;
    options.job.membership.grow_at_failure = plan.grow_at_failure;
    options.job.membership.last_call = plan.times.last_call;
    options.job.membership.regather = 2 * plan.times.silence;
    options.job.policy = plan.policy;
    options.job.budgets = plan.budgets;
    options.job.claim = plan.times.silence + std::chrono::seconds(2);
    options.job.broken_grace = plan.times.broken_grace;
    options.job.healthy_grace = plan.times.stop_grace;
    options.rpc.liveness.dead_after = plan.times.silence;
    options.rpc.liveness.ping_after = plan.times.silence / 5;
    options.token = std::move(token);
    options.name = std::move(name);
    return options;
}

namespace {

/// Later than that of any master before, whose record may be lost.
std::uint64_t first_epoch(Clock& clock) {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(clock.wall_now().time_since_epoch())
            .count());
}

master::MasterOptions started(master::MasterOptions options, HostedMaster::Start start,
                              std::uint64_t epoch) {
    options.job.first_epoch = start == HostedMaster::Start::kAsFirst ? epoch : 0;
    return options;
}

}  // namespace

HostedMaster::HostedMaster(const asio::any_io_executor& executor, Clock& clock,
                           const std::filesystem::path& job_dir, Start start,
                           master::MasterOptions options)
    : HostedMaster(executor, clock, job_dir, start, std::move(options), first_epoch(clock)) {}

HostedMaster::HostedMaster(const asio::any_io_executor& executor, Clock& clock,
                           const std::filesystem::path& job_dir, Start start,
                           master::MasterOptions options, std::uint64_t epoch)
    : record_(job_dir / "master.record"),
      records_(record_, epoch),
      master_(executor, clock, records_, started(std::move(options), start, epoch)),
      near_(std::make_shared<net::MemoryListener>(executor)),
      tasks_(executor) {
    master_.listen(std::make_unique<SharedListener>(near_));
}

HostedMaster::~HostedMaster() = default;

void HostedMaster::listen(std::unique_ptr<net::Listener> listener, net::TlsServerContext* tls) {
    master_.listen(std::move(listener), tls);
}

void HostedMaster::start(std::function<void(const Error&)> ended) {
    running_ = true;
    tasks_.spawn("master", run(std::move(ended)));
}

Task<void> HostedMaster::run(std::function<void(const Error&)> ended) {
    const auto verdict = co_await master_.run();
    running_ = false;
    if (!verdict) ended(verdict.error());
}

Result<std::unique_ptr<net::ByteStream>> HostedMaster::connect() { return near_->connect(); }

Task<void> HostedMaster::stop() {
    co_await tasks_.stop();
    co_await master_.stop();
}

void HostedMaster::forget_record() {
    std::error_code error;
    for (const char* suffix : {"", ".lock"})
        std::filesystem::remove(record_.string() + suffix, error);
    if (error)
        log::warning("the record of a job that is over stays",
                     {{"file", record_.string()}, {"error", error.message()}});
}

}  // namespace muster::run
