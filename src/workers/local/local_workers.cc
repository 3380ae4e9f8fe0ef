#include "workers/local/local_workers.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/check.h"
#include "base/log.h"
#include "base/text_files.h"
#include "base/time/time_limit.h"
#include "process/cgroup_hierarchies.h"
#include "workers/local/error_file.h"
#include "workers/local/local_workers_state.h"

namespace muster::workers {

namespace fs = std::filesystem;

namespace {

/// After which it is said who keeps a stop waiting.
constexpr Duration kStopIsSlow = std::chrono::seconds(5);

/// The group of version 2 in which this process may make others; empty: there is none.
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
            return tree.own;  // the root has no such file, and groups below it do
    return {};
}

}  // namespace

LocalWorkers::State::State(asio::any_io_executor its_executor, Clock& its_clock,
                           JobDirectory its_directory, LocalWorkersOptions its_options,
                           UniqueFd its_program)
    : executor(std::move(its_executor)),
      clock(its_clock),
      directory(std::move(its_directory)),
      options(std::move(its_options)),
      program(std::move(its_program)),
      logs(options.logs, options.run_level, options.temporary),
      kills(MemoryKills::of_this_process()),
      parent_group(own_group()),
      changed(executor),
      ends_changed(executor) {}

void LocalWorkers::State::add(WorkerRecord record, ProgressFile progress, UniqueFd control,
                              pid_t shim) {
    workers.push_back(std::make_unique<Worker>(executor, std::move(record), std::move(progress),
                                               std::move(control), shim, changed, on_end()));
    workers.back()->watch(clock);
}

void LocalWorkers::State::ended(Worker& worker, ProcessEnd how) {
    if (stopping) return;
    WorkerEnd end;
    end.generation = set->world.generation;
    end.local_rank = worker.record().local_rank;
    end.rank = worker.record().rank;
    end.pid = worker.pid();
    end.steps = worker.steps();
    end.when = how.when.value_or(clock.wall_now());
    end.error = std::move(how.why);
    if (WIFEXITED(how.wait_status)) {
        end.exit_code = WEXITSTATUS(how.wait_status);
    } else {
        end.signal = WTERMSIG(how.wait_status);
        end.out_of_memory = end.signal == SIGKILL && kills.take_one();
    }
    if (end.exit_code != 0 && !worker.record().error_file.empty()) {
        if (const auto file = read_error_file(worker.record().error_file)) {
            end.error = file->message;
            end.error_file = worker.record().error_file;
            // It was written before the end; another time is another clock's.
            if (file->when && *file->when < end.when) end.when = *file->when;
        }
    }
    ends.push_back(std::move(end));
    ends_changed.notify_all();
}

Task<Result<void>> LocalWorkers::State::take_over() {
    auto found = load_worker_set_state(directory.path());
    if (!found) {
        log::warning("what an earlier agent left can't be read, and is not taken over",
                     {{"error", found.error().message()}});
        co_return Result<void>();
    }
    if (!*found) co_return Result<void>();
    set = **std::move(found);
    std::vector<WorkerRecord> lost;
    for (const WorkerRecord& record : set->workers) {
        Result<UniqueFd> control = find_shim(directory.fd(), record.socket);
        Result<ProgressFile> progress = ProgressFile::open(record.progress);
        if (!control || !progress) {
            lost.push_back(record);
            continue;
        }
        add(record, *std::move(progress), *std::move(control), 0);
    }
    if (workers.empty()) {
        forget_set();
        co_return Result<void>();
    }
    (void)co_await within(clock, kShimStarts, [](State& state) -> Task<bool> {
        co_await state.all_started();
        co_return true;
    }(*this));
    for (const WorkerRecord& record : lost) {
        WorkerEnd end;
        end.generation = set->world.generation;
        end.local_rank = record.local_rank;
        end.rank = record.rank;
        end.signal = SIGKILL;
        end.error = "it ended while no agent was there, and its shim with it";
        end.when = clock.wall_now();
        ends.push_back(std::move(end));
    }
    log::info("workers of an earlier agent are taken over",
              {{"generation", set->world.generation.number}, {"workers", workers.size()}});
    co_return Result<void>();
}

Task<void> LocalWorkers::State::all_gone() {
    const auto there = [](const auto& worker) { return worker->state() != Worker::State::kGone; };
    while (std::ranges::any_of(workers, there)) co_await changed.wait();
}

Task<void> LocalWorkers::State::end_set(Duration grace) {
    stopping = true;
    if (spares) spares->pause();
    ends.clear();
    for (const auto& worker : workers) worker->request_end(grace);
    for (Duration patience = grace + kStopIsSlow;; patience = kStopIsSlow) {
        const auto gone = co_await within(clock, patience, [](State& state) -> Task<bool> {
            co_await state.all_gone();
            co_return true;
        }(*this));
        if (gone) break;
        for (const auto& worker : workers)
            if (worker->state() != Worker::State::kGone)
                log::warning(
                    "a stopped worker is not gone yet: a process of it does not die, as when it "
                    "waits "
                    "for a disk or a device",
                    {{"rank", worker->record().rank}, {"pid", worker->pid()}});
    }
    for (const auto& worker : workers) co_await worker->gone();
    forget_set();
}

void LocalWorkers::State::forget_set() {
    workers.clear();
    for (const Start& start : starts)
        if (start.spare != nullptr) spares->drop(start.spare);
    starts.clear();
    const auto remove = [this](const std::string& name) {
        ::unlink((directory.path() / name).c_str());
    };
    for (const WorkerRecord& record : set->workers) {
        remove(record.socket);
        ::unlink(record.progress.c_str());
        remove(fmt::format("error-{}.json", record.local_rank));
    }
    remove(std::string(kWorkerSetStateName));
    set.reset();
    ends.clear();
    stopping = false;
}

LocalWorkers::LocalWorkers(std::unique_ptr<State> state) : state_(std::move(state)) {}
LocalWorkers::~LocalWorkers() = default;

Task<Result<std::unique_ptr<LocalWorkers>>> LocalWorkers::open(asio::any_io_executor executor,
                                                               Clock& clock, JobDirectory directory,
                                                               LocalWorkersOptions options) {
    // What a worker started comes to us when its shim is killed.
    if (::prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
        co_return system_error("becoming a subreaper", errno);
    CO_TRY(UniqueFd program, open_shim_program());
    auto state = std::make_unique<State>(std::move(executor), clock, std::move(directory),
                                         std::move(options), std::move(program));
    CO_TRY_VOID(co_await state->take_over());
    state->open_spares();
    co_return std::unique_ptr<LocalWorkers>(new LocalWorkers(std::move(state)));
}

std::optional<job_protocol::World> LocalWorkers::running() const {
    if (!state_->set) return std::nullopt;
    return state_->set->world;
}

Task<Result<void>> LocalWorkers::start(job_protocol::World world,
                                       std::vector<launch::WorkerStart> workers) {
    State& state = *state_;
    CHECK(!state.set, "workers were started while others run");
    state.set.emplace(WorkerSetState{.world = std::move(world), .workers = {}});
    Result<void> started = co_await state.start(std::move(workers));
    if (!started) co_await state.end_set(Duration(0));
    co_return started;
}

Task<WorkerEnd> LocalWorkers::next_end() {
    State& state = *state_;
    while (state.ends.empty()) co_await state.ends_changed.wait();
    const auto first = std::ranges::min_element(state.ends, {}, &WorkerEnd::when);
    WorkerEnd end = std::move(*first);
    state.ends.erase(first);
    co_return end;
}

Task<void> LocalWorkers::stop(Duration grace) {
    if (!state_->set) co_return;
    co_await state_->end_set(grace);
}

std::optional<std::uint64_t> LocalWorkers::steps() const {
    std::optional<std::uint64_t> most;
    for (const auto& worker : state_->workers)
        if (const std::uint64_t steps = worker->steps(); steps > most.value_or(0)) most = steps;
    return most;
}

Task<void> LocalWorkers::end_spares() {
    if (!state_->spares) co_return;
    co_await state_->spares->end();
    state_->spares.reset();
}

int LocalWorkers::spares_ready() const { return state_->spares ? state_->spares->ready() : 0; }

Task<void> LocalWorkers::let_go() {
    State& state = *state_;
    co_await end_spares();
    if (!state.set) co_return;
    for (const auto& worker : state.workers) co_await worker->let_go();
    state.workers.clear();
    state.starts.clear();
    state.set.reset();
    state.ends.clear();
}

const std::filesystem::path& LocalWorkers::log_directory() const {
    return state_->logs.run_directory();
}

int LocalWorkers::pid_of(int local_rank) const {
    for (const auto& worker : state_->workers)
        if (worker->record().local_rank == local_rank && worker->state() == Worker::State::kRuns)
            return worker->pid();
    return 0;
}

}  // namespace muster::workers
