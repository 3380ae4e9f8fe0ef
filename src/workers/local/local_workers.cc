#include "workers/local/local_workers.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/text_files.h"
#include "process/cgroup_hierarchies.h"
#include "workers/local/worker_set.h"
#include "workers/local/worker_set_starter.h"
#include "workers/spares/spares.h"
#include "workers/worker/worker_logs.h"

namespace muster::workers {

namespace {

/// The cgroup of version 2 in which this process may create others; empty if there is none.
std::string own_group() {
    const auto mounts = read_text("/proc/self/mountinfo");
    const auto groups = read_text("/proc/self/cgroup");
    if (!mounts || !groups) return {};
    for (const process::CgroupHierarchy& tree : process::find_cgroup_hierarchies(*mounts, *groups))
        if (tree.version == process::CgroupVersion::kV2 && ::access(tree.own.c_str(), W_OK) == 0 &&
            ::access((tree.own + "/cgroup.kill").c_str(), F_OK) == 0)
            return tree.own;
        else if (tree.version == process::CgroupVersion::kV2 &&
                 ::access(tree.own.c_str(), W_OK) == 0 && tree.own == tree.root)
            return tree.own;  // the root has no such file; cgroups below it do
    return {};
}

}  // namespace

struct LocalWorkers::State {
    State(asio::any_io_executor its_executor, Clock& its_clock, JobDirectory its_directory,
          LocalWorkersOptions its_options, UniqueFd its_program)
        : executor(std::move(its_executor)),
          clock(its_clock),
          directory(std::move(its_directory)),
          options(std::move(its_options)),
          program(std::move(its_program)),
          logs(options.logs, options.run_level, options.temporary),
          parent_group(own_group()),
          set(executor, clock, directory),
          starter(executor, clock,
                  {.directory = directory,
                   .shim_program = program.get(),
                   .input = options.input,
                   .parent_group = parent_group,
                   .orphan_grace_ms = orphan_grace_ms(),
                   .keep = options.keep,
                   .placement = options.placement,
                   .core_bytes = options.core_bytes},
                  set, logs) {}

    void open_spares();
    SpareSurroundings around_spares();
    Task<void> end_spares();
    Task<void> end_set(Duration grace);

    std::uint64_t orphan_grace_ms() const {
        return static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::milliseconds>(options.orphan_grace).count());
    }

    asio::any_io_executor executor;
    Clock& clock;
    JobDirectory directory;
    LocalWorkersOptions options;
    UniqueFd program;
    WorkerLogs logs;
    std::string parent_group;
    WorkerSet set;
    WorkerSetStarter starter;
    std::unique_ptr<Spares> spares;
};

void LocalWorkers::State::open_spares() {
    if (!options.spares) return;
    spares =
        std::make_unique<Spares>(executor, clock, set.changed(), *options.spares, around_spares());
    starter.use(spares.get());
}

SpareSurroundings LocalWorkers::State::around_spares() {
    return {.directory = directory.path(),
            .directory_fd = directory.fd(),
            .shim_program = program.get(),
            .input = options.input,
            .parent_group = parent_group,
            .orphan_grace_ms = orphan_grace_ms(),
            .keep = options.keep,
            .core_bytes = options.core_bytes,
            .inherited =
                [this](int local_rank) {
                    const RankLogPlan plan = logs.plan().of(local_rank);
                    using enum StreamPlan::Console;
                    return std::pair(plan.out.console == kDirect, plan.error.console == kDirect);
                },
            .killed =
                [this](int signal) {
                    // Otherwise the next worker that is killed would be taken for it.
                    if (signal == SIGKILL) (void)set.kills().take_one();
                }};
}

Task<void> LocalWorkers::State::end_spares() {
    if (!spares) co_return;
    co_await spares->end();
    starter.use(nullptr);
    spares.reset();
}

Task<void> LocalWorkers::State::end_set(Duration grace) {
    if (spares) spares->pause();
    co_await set.end(grace);
    starter.give_up();
}

LocalWorkers::LocalWorkers(std::unique_ptr<State> state) : state_(std::move(state)) {}
LocalWorkers::~LocalWorkers() = default;

Task<Result<std::unique_ptr<LocalWorkers>>> LocalWorkers::open(asio::any_io_executor executor,
                                                               Clock& clock, JobDirectory directory,
                                                               LocalWorkersOptions options) {
    // Processes that a worker started become our children when its shim is killed.
    if (::prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
        co_return system_error("becoming a subreaper", errno);
    CO_TRY(UniqueFd program, open_shim_program());
    auto state = std::make_unique<State>(std::move(executor), clock, std::move(directory),
                                         std::move(options), std::move(program));
    co_await state->set.take_over();
    state->open_spares();
    co_return std::unique_ptr<LocalWorkers>(new LocalWorkers(std::move(state)));
}

std::optional<job_protocol::World> LocalWorkers::running() const {
    const std::optional<WorkerSetState>& set = state_->set.state();
    return set ? std::optional(set->world) : std::nullopt;
}

Task<Result<void>> LocalWorkers::start(job_protocol::World world,
                                       std::vector<launch::WorkerStart> workers) {
    State& state = *state_;
    state.set.begin(std::move(world));
    Result<void> started = co_await state.starter.start(std::move(workers));
    if (!started) co_await state.end_set(Duration(0));
    co_return started;
}

Task<WorkerEnd> LocalWorkers::next_end() { return state_->set.next_end(); }

Task<void> LocalWorkers::stop(Duration grace) {
    if (!state_->set.state()) co_return;
    co_await state_->end_set(grace);
}

std::optional<std::uint64_t> LocalWorkers::steps() const {
    std::optional<std::uint64_t> most;
    for (const auto& worker : state_->set.workers())
        if (const std::uint64_t steps = worker->steps(); steps > most.value_or(0)) most = steps;
    return most;
}

WorkerSet& LocalWorkers::set() const { return state_->set; }

std::string LocalWorkers::still_there() const {
    std::string all;
    for (const auto& worker : set().workers())
        if (worker->state() != Worker::State::kGone)
            all += fmt::format("{}rank {} (pid {})", all.empty() ? "" : ", ", worker->record().rank,
                               worker->pid());
    return all;
}

Task<void> LocalWorkers::end_spares() { return state_->end_spares(); }

int LocalWorkers::spares_ready() const { return state_->spares ? state_->spares->ready() : 0; }

Task<void> LocalWorkers::let_go() {
    co_await end_spares();
    if (!state_->set.state()) co_return;
    co_await state_->set.let_go();
    state_->starter.give_up();
}

const std::filesystem::path& LocalWorkers::log_directory() const {
    return state_->logs.run_directory();
}

int LocalWorkers::pid_of(int local_rank) const {
    for (const auto& worker : state_->set.workers())
        if (worker->record().local_rank == local_rank && worker->state() == Worker::State::kRuns)
            return worker->pid();
    return 0;
}

}  // namespace muster::workers
