#include "sim/internal/programs/master_pod.h"

#include <csignal>
#include <optional>
#include <utility>

#include "kube/client/client.h"
#include "master_process/life.h"
#include "master_process/records/config_map_records.h"
#include "master_process/records/life_records.h"
#include "master_process/wanted_nodes/wanted_nodes.h"
#include "sim/internal/programs/job_token.h"
#include "sim/internal/programs/shared_listener.h"

namespace muster::sim {

namespace {

// Exit codes of master_process/run_master.cc.
constexpr std::int32_t kJobSucceeded = 0;
constexpr std::int32_t kJobFailed = 1;
constexpr std::int32_t kNotServed = 3;
constexpr std::int32_t kToldToStop = 128 + SIGTERM;

std::int32_t exit_code_of(const Result<job_protocol::Verdict>& ended) {
    if (!ended) return kNotServed;
    return ended->kind == job_protocol::Verdict::Kind::kSucceeded ? kJobSucceeded : kJobFailed;
}

}  // namespace

/// One start of the pod's container.
struct MasterPod::Container {
    Container(const asio::any_io_executor& executor, master_process::Arguments given,
              std::function<void(std::int32_t)> when_ended)
        : arguments(std::move(given)),
          ended(std::move(when_ended)),
          listener(std::make_shared<net::MemoryListener>(executor)),
          tasks(executor) {}

    Task<void> stop() {
        co_await tasks.stop();
        if (master) co_await master->stop();
    }

    master_process::Arguments arguments;
    std::function<void(std::int32_t)> ended;
    bool terminated = false;
    std::shared_ptr<net::MemoryListener> listener;
    std::shared_ptr<ApiOfPod> api = {};  ///< null: its record is a file
    std::optional<kube::Client> client = {};
    std::unique_ptr<master_process::WantedNodes> wanted_nodes = {};
    std::unique_ptr<master::Records> kept = {};
    std::unique_ptr<master_process::LifeRecords> records = {};
    std::unique_ptr<master::Master> master = {};
    TaskGroup tasks;
};

MasterPod::MasterPod(const Job& job, std::string its_name, const FaultWindows& its_machine)
    : name(std::move(its_name)),
      machine(its_machine),
      link(job.executor, job.clock, fault_windows, elastic::SimulatedLink::Of::kMaster),
      job_(job) {
    job_.invariants.masters_moved();
    job_.invariants.of_master_place(fault_windows);
    job_.invariants.of_master_place(machine_cut_off_);
}

MasterPod::~MasterPod() = default;

const master::Job* MasterPod::job() const {
    return container_ && container_->master ? container_->master->job() : nullptr;
}

void MasterPod::start(const master_process::Arguments& arguments,
                      std::function<void(std::int32_t)> ended) {
    container_ = std::make_shared<Container>(job_.executor, arguments, std::move(ended));
    Container& here = *container_;
    if (!arguments.record_object.empty() && job_.reach_api) {
        here.api = job_.reach_api();
        here.client.emplace(here.api->transport, "muster-master");
        if (!arguments.job_object.empty()) {
            here.wanted_nodes = std::make_unique<master_process::WantedNodes>(
                *here.client, job_.clock, job_.rng, master_process::followed_job(arguments));
            here.wanted_nodes->start(here.tasks);
        }
    }
    job_.invariants.say(name + ": a master starts");
    job_.invariants.master_began();
    if (arguments.begin_again) job_.invariants.begins_again();
    here.tasks.spawn("master", serve(container_));
    job_.masters_changed();
}

std::unique_ptr<master::Records> MasterPod::open_records(Container& container,
                                                         std::uint64_t first) {
    if (container.client)
        return std::make_unique<master_process::ConfigMapRecords>(
            *container.client, job_.clock, container.arguments.namespace_,
            container.arguments.record_object, first);
    if (!file_.open) file_ = job_.new_record();
    return file_.open(first, {});
}

Task<void> MasterPod::serve(std::shared_ptr<Container> container) {
    Container& here = *container;
    const std::uint64_t first = master_process::first_epoch(job_.clock.wall_now());
    here.kept = open_records(here, first);
    here.records = std::make_unique<master_process::LifeRecords>(*here.kept, job_.clock,
                                                                 here.arguments.begin_again);
    master::MasterOptions options =
        master_process::master_options(here.arguments, first, kJobToken, job_.rng);
    if (here.wanted_nodes)
        options.services.emplace_back([&here](const master::ServiceContext& context) {
            return here.wanted_nodes->service(context);
        });
    here.master = std::make_unique<master::Master>(job_.executor, job_.clock,
                                                   here.records->records(), std::move(options));
    here.master->listen(std::make_unique<SharedListener>(here.listener));
    const auto ended = co_await here.master->run();
    if (!ended) job_.invariants.say(name + ": its master gives up: " + ended.error().message());
    end(container, exit_code_of(ended));
}

Task<Result<std::unique_ptr<net::ByteStream>>> MasterPod::accept() {
    return link.accept([this] {
        return container_ ? container_->listener : std::shared_ptr<net::MemoryListener>();
    });
}

void MasterPod::bury(std::shared_ptr<Container> container) {
    job_.graves.spawn("bury", [](std::shared_ptr<Container> ended) -> Task<void> {
        co_await ended->stop();
    }(std::move(container)));
}

void MasterPod::end(const std::shared_ptr<Container>& container, std::int32_t exit_code) {
    if (container_ != container) return;
    job_.masters_changed();  // what it had is seen before it is gone
    container_.reset();
    container->listener->close();
    link.cut();
    if (!container->terminated) bury(container);
    job_.masters_changed();
    const auto told = std::move(container->ended);
    told(exit_code);
}

void MasterPod::terminate() {
    if (!container_ || std::exchange(container_->terminated, true)) return;
    job_.invariants.say(name + ": SIGTERM was sent to its master");
    job_.graves.spawn("SIGTERM", leave(container_));
}

Task<void> MasterPod::leave(std::shared_ptr<Container> container) {
    container->listener->close();
    co_await container->stop();
    end(container, kToldToStop);
}

void MasterPod::kill(PodProgram::Death death) {
    if (!container_) return;
    job_.masters_changed();  // what it had is seen before it is gone
    job_.invariants.say(name + ": its master is killed");
    auto container = std::exchange(container_, nullptr);
    if (death == PodProgram::Death::kOfMachine)
        link.go_dark();
    else
        link.cut();
    container->listener->close();
    if (container->api) container->api->transport.cut();
    container->tasks.cancel();
    // Whoever has told it to stop waits for that already.
    if (!container->terminated) bury(std::move(container));
    job_.masters_changed();
}

void MasterPod::cut_off(bool so) {
    link.set_machine_cut_off(so);
    machine_cut_off_.partition(so, job_.clock.now());
    if (container_ && container_->api) container_->api->set_cut_off(so);
}

}  // namespace muster::sim
