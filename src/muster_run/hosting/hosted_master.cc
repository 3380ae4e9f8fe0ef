#include "muster_run/hosting/hosted_master.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "base/async/cancellation.h"
#include "base/async/then_stop.h"
#include "base/log.h"
#include "base/time/restarting_task.h"
#include "master/file_records.h"
#include "master/master_probe.h"
#include "master/terms.h"
#include "muster_run/hosting/terms_of.h"
#include "muster_run/node/node_resources.h"

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

/// A listener that outlives the server which has it: closed, it only takes no more.
class KeptListener final : public net::Listener {
  public:
    explicit KeptListener(std::shared_ptr<net::Listener> below) : below_(std::move(below)) {}

    Task<Result<std::unique_ptr<net::ByteStream>>> accept() override {
        if (closed_) co_return Error(Code::kCancelled, "this server takes no more connections");
        co_return co_await below_->accept();
    }
    void close() override { closed_ = true; }
    std::string address() const override { return below_->address(); }

  private:
    std::shared_ptr<net::Listener> below_;
    bool closed_ = false;
};

}  // namespace

master::MasterOptions master_options(const launch::LaunchPlan& plan, std::string token) {
    master::MasterOptions options;
    options.job = master::with_terms({}, terms_of(plan));
    if (plan.node_check != launch::NodeCheckMode::kNone)
        options.node_check =
            master::NodeCheckOptions{.thorough = plan.node_check == launch::NodeCheckMode::kLinks,
                                     .exclude_slow = plan.exclude_straggler};
    options.rpc.liveness = {.dead_after = plan.times.silence};
    options.token = std::move(token);
    return options;
}

/// One claim of an epoch, and what follows from it.
struct HostedMaster::Life {
    Life(const asio::any_io_executor& executor, Clock& clock,
         std::unique_ptr<master::Records> its_records, master::MasterOptions options)
        : records(std::move(its_records)),
          master(executor, clock, *records, std::move(options)),
          near(std::make_shared<net::MemoryListener>(executor)) {
        master.listen(std::make_unique<SharedListener>(near));
    }

    std::unique_ptr<master::Records> records;
    master::Master master;
    std::shared_ptr<net::MemoryListener> near;  ///< closed when the master has ended
};

RecordPlace record_in(const std::filesystem::path& job_dir) {
    const std::filesystem::path record = job_dir / kMasterRecord;
    return {
        .open = [record](std::uint64_t first, std::shared_ptr<const job_protocol::JobRecord> known)
            -> std::unique_ptr<master::Records> {
            return std::make_unique<master::FileRecords>(record.string(), first, std::move(known));
        },
        .forget =
            [record] {
                std::error_code error;
                for (const char* suffix : {"", ".lock"})
                    std::filesystem::remove(record.string() + suffix, error);
                if (error)
                    log::warning("the record of a job that is over stays",
                                 {{"file", record.string()}, {"error", error.message()}});
            }};
}

HostedMaster::HostedMaster(const asio::any_io_executor& executor, Clock& clock, Rng& rng,
                           RecordPlace record, master::MasterOptions options, MasterPlace place)
    : executor_(executor),
      clock_(clock),
      rng_(rng),
      record_(std::move(record)),
      options_(std::move(options)),
      place_(std::move(place)),
      listener_(std::move(place_.listener)),
      tasks_(executor) {}

HostedMaster::~HostedMaster() = default;

void HostedMaster::begin_life(Start start, Heard heard) {
    // The time is later than that of any master before, whose record may be lost, where clocks are
    // right; and what agents have heard of is refused where they are not.
    const auto now =
        std::chrono::duration_cast<std::chrono::milliseconds>(clock_.wall_now().time_since_epoch());
    const std::uint64_t epoch = std::max(static_cast<std::uint64_t>(now.count()), heard.epoch + 1);
    epoch_ = epoch;
    master::MasterOptions options = options_;
    options.name = rng_.uuid();
    if (options.node_check) options.node_check->secret = rng_.uuid();
    options.job.first_epoch = start == Start::kAsFirst ? epoch : 0;
    life_ = std::make_unique<Life>(executor_, clock_, record_.open(epoch, std::move(heard.record)),
                                   std::move(options));
    if (listener_) life_->master.listen(std::make_unique<KeptListener>(listener_), place_.tls);
}

void HostedMaster::start(Start start, Heard heard, std::function<void(const Error&)> ended) {
    begin_life(start, std::move(heard));
    running_ = true;
    spawn_restarting(tasks_, clock_, "master",
                     [this, ended = std::move(ended)] { return run(ended); });
}

Task<void> HostedMaster::run(std::function<void(const Error&)> ended) {
    for (;;) {
        if (life_failed_) begin_life(Start::kTakesOver, {.epoch = epoch_});
        life_failed_ = false;
        const Result<job_protocol::Verdict> verdict = co_await live();
        const auto superseded_by = life_->master.superseded_by();
        if (!verdict && superseded_by) {
            log::info("the job's master claims a newer epoch",
                      {{"why", verdict.error().message()}});
            begin_life(Start::kTakesOver, {.epoch = *superseded_by});
            continue;
        }
        running_ = false;
        stop_listening();
        if (!verdict) ended(verdict.error());
        co_return;
    }
}

void HostedMaster::stop_listening() {
    if (listener_) listener_->close();
    listener_.reset();
}

/// Until the master ends, and what it has begun.
Task<Result<job_protocol::Verdict>> HostedMaster::live() {
    std::optional<Result<job_protocol::Verdict>> ended;
    TaskGroup asks(executor_);
    master::MasterProbe watch(
        clock_, rng_, life_->master,
        {.token = options_.token, .every = place_.ask_others_every, .rpc = {}});
    std::exception_ptr thrown;
    try {
        co_await then_stop(
            [](HostedMaster& self, master::MasterProbe& watching, TaskGroup& asking,
               std::optional<Result<job_protocol::Verdict>>& into) -> Task<void> {
                watching.start(asking, self.place_.others);
                into = co_await self.life_->master.run();
            }(*this, watch, asks, ended),
            asks);
    } catch (...) {
        thrown = std::current_exception();
    }
    if (thrown) {
        // Its agents are not left with a master that decides nothing: they look for the next.
        if (!is_cancellation(thrown)) {
            life_failed_ = true;
            co_await life_->master.stop();
        }
        std::rethrow_exception(thrown);
    }
    co_return *std::move(ended);
}

Result<std::unique_ptr<net::ByteStream>> HostedMaster::connect() { return life_->near->connect(); }

Task<void> HostedMaster::stop() {
    co_await tasks_.stop();
    if (life_) co_await life_->master.stop();
    stop_listening();
}

const master::Job* HostedMaster::job() const { return life_ ? life_->master.job() : nullptr; }

}  // namespace muster::run
