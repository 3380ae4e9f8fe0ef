#include "agent/local/local_workers.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "agent/local/error_file.h"
#include "agent/local/memory_kills.h"
#include "agent/local/set_record.h"
#include "agent/local/worker.h"
#include "agent/local/worker_logs.h"
#include "base/check.h"
#include "base/log.h"
#include "base/signal.h"
#include "base/task_group.h"
#include "base/text_files.h"
#include "base/time_limit.h"
#include "process/cgroup_hierarchies.h"
#include "process/program_file.h"

namespace muster::agent {

namespace fs = std::filesystem;

namespace {

/// A program may come over a slow network before it runs.
constexpr Duration kShimStarts = std::chrono::seconds(60);
/// After which it is said who keeps a stop waiting.
constexpr Duration kStopIsSlow = std::chrono::seconds(5);

std::string name_of(const WorkerStart& worker) {
    return fmt::format("worker {} (local rank {})", worker.rank, worker.local_rank);
}

Error describe(const process::ProgramFailure& failure, const WorkerStart& worker) {
    using enum process::ProgramFault;
    const std::string& program = worker.command[0];
    const auto why = [&]() -> std::string {
        switch (failure.fault) {
            case kMissing:
                if (program.find('/') != program.npos)
                    return fmt::format("{} does not exist", program);
                return fmt::format("no directory of PATH has a program {}", program);
            case kNotExecutable:
                if (failure.error == EISDIR) return failure.detail + " is a directory";
                return fmt::format(
                    "{} can't be executed: make it executable (chmod +x), or name its "
                    "interpreter before it",
                    failure.detail);
            case kInterpreterMissing:
                return fmt::format("{}, which is to run {}, does not exist", failure.detail,
                                   program);
            case kFormat:
                return fmt::format(
                    "{} is no program for this machine: a script begins with #! and "
                    "its interpreter",
                    failure.detail);
            case kOther:
                break;
        }
        return fmt::format("{}: {}", failure.detail, ::strerrordesc_np(failure.error));
    }();
    return {Code::kInvalid, fmt::format("{} can't be started: {}", name_of(worker), why)};
}

struct Command {
    std::vector<std::string> candidates;
    std::vector<std::string> environment;
};

Result<Command> find_program(const WorkerStart& worker) {
    CHECK(!worker.command.empty(), "a worker without a command");
    Command command;
    for (const auto& [name, value] : worker.environment)
        command.environment.push_back(fmt::format("{}={}", name, value));
    command.candidates =
        process::program_candidates(worker.command[0], process::path_of(command.environment));
    const process::ProgramFailure failure =
        process::diagnose_program(command.candidates, worker.command[0], 0);
    if (failure.fault != process::ProgramFault::kOther) return describe(failure, worker);
    return command;
}

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

struct LocalWorkers::State {
    State(asio::any_io_executor its_executor, Clock& its_clock, JobDirectory its_directory,
          LocalWorkersOptions its_options, UniqueFd its_program)
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

    Task<Result<void>> start(std::vector<WorkerStart> workers);
    Result<std::vector<Placement>> place_all(const std::vector<WorkerStart>& workers);
    Result<void> start_one(const WorkerStart& start, Command command, const Placement& placement);
    Task<void> all_started();
    Task<Result<void>> take_over();
    Task<void> end_set(Duration grace);
    Task<void> all_gone();
    void add(WorkerRecord record, ProgressFile progress, UniqueFd control, pid_t shim);
    void ended(Worker& worker, ProcessEnd how);
    void forget_set();

    asio::any_io_executor executor;
    Clock& clock;
    JobDirectory directory;
    LocalWorkersOptions options;
    UniqueFd program;
    WorkerLogs logs;
    MemoryKills kills;
    std::string parent_group;
    Signal changed;
    Signal ends_changed;
    std::optional<SetRecord> set;
    bool stopping = false;
    std::vector<std::unique_ptr<Worker>> workers;
    std::unique_ptr<TaskGroup> tasks;
    std::vector<WorkerEnd> ends;
};

void LocalWorkers::State::add(WorkerRecord record, ProgressFile progress, UniqueFd control,
                              pid_t shim) {
    workers.push_back(std::make_unique<Worker>(
        executor, std::move(record), std::move(progress), std::move(control), shim, changed,
        [this](Worker& worker, ProcessEnd how) { ended(worker, std::move(how)); }));
    tasks->spawn("worker", workers.back()->watch(clock));
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

Result<std::vector<Placement>> LocalWorkers::State::place_all(
    const std::vector<WorkerStart>& starts) {
    std::vector<Placement> placements(starts.size());
    if (options.placement == PlacementWish{}) return placements;
    TRY(const Topology machine, read_topology("/sys", allowed_cpus()));
    std::vector<Place> places;
    for (const WorkerStart& start : starts) {
        const std::string visible = value_of(start, "CUDA_VISIBLE_DEVICES");
        // It takes this one of those that it sees; with --virtual-local-rank it sees one.
        const int index = value_of(start, "LOCAL_RANK") == "0" ? 0 : start.local_rank;
        places.push_back(
            {.local_rank = start.local_rank,
             .local_size = static_cast<int>(starts.size()),
             .device = device_of(index, visible.empty() ? std::nullopt : std::optional(visible),
                                 machine)});
    }
    std::string told;
    for (std::size_t i = 0; i < starts.size(); ++i) {
        TRY(placements[i], place(options.placement, machine, places, i));
        if (placements[i].note.empty() || placements[i].note == told) continue;
        told = placements[i].note;
        log::info("placement of workers", {{"note", told}});
    }
    return placements;
}

Result<void> LocalWorkers::State::start_one(const WorkerStart& start, Command command,
                                            const Placement& placement) {
    TRY(WorkerFiles files, logs.prepare(start, directory.path()));
    const std::string progress = fmt::format("progress-{}", start.local_rank);
    WorkerRecord& record =
        *std::ranges::find(set->workers, start.local_rank, &WorkerRecord::local_rank);
    record.error_file = files.error_file;
    TRY(ProgressFile counted, ProgressFile::create(record.progress));
    ShimOrder order;
    order.candidates = std::move(command.candidates);
    order.arguments = start.command;
    order.environment = std::move(command.environment);
    const auto give = [&order](const std::string& name, const std::string& value) {
        std::erase_if(order.environment,
                      [&](const std::string& entry) { return entry.starts_with(name + "="); });
        order.environment.push_back(name + "=" + value);
    };
    give("TORCHELASTIC_ERROR_FILE", files.error_file);
    give("MUSTER_PROGRESS", record.progress);
    order.out = std::move(files.out);
    order.error = std::move(files.error);
    order.rotate_bytes = logs.plan().max_bytes();
    order.rotate_files = logs.plan().max_files();
    order.directory = directory.path();
    order.socket = record.socket;
    order.files = {progress, fmt::format("error-{}.json", start.local_rank)};
    order.record = kSetRecordName;
    order.group = record.group;
    order.cpus = placement.cpus;
    order.memory = placement.memory;
    order.nodes = placement.nodes;
    order.orphan_grace_ms = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(options.orphan_grace).count());
    TRY(StartedShim shim, start_shim(program.get(), directory.fd(), order, "muster-shim"));
    add(record, std::move(counted), std::move(shim.control), shim.pid);
    return {};
}

Task<Result<void>> LocalWorkers::State::start(std::vector<WorkerStart> starts) {
    // Whatever can be known to be wrong is said before anything runs.
    std::vector<Command> commands;
    for (const WorkerStart& start : starts) {
        CO_TRY(Command command, find_program(start));
        commands.push_back(std::move(command));
    }
    CO_TRY(const std::vector<Placement> placements, place_all(starts));
    kills.begin();
    for (const WorkerStart& start : starts)
        set->workers.push_back(
            {.local_rank = start.local_rank,
             .rank = start.rank,
             .socket = fmt::format("worker-{}.sock", start.local_rank),
             .progress = directory.path() / fmt::format("progress-{}", start.local_rank),
             .error_file = {},
             .group = parent_group.empty()
                          ? std::string()
                          : fmt::format("{}/{}-{}", parent_group,
                                        directory.path().filename().string(), start.local_rank)});
    CO_TRY_VOID(save_set_record(directory.path(), *set));
    for (std::size_t i = 0; i < starts.size(); ++i) {
        Result<void> started = start_one(starts[i], std::move(commands[i]), placements[i]);
        if (!started) co_return started.error().prefix(name_of(starts[i]) + " can't be started");
    }
    // Now with the error files.
    CO_TRY_VOID(save_set_record(directory.path(), *set));
    const auto in_time = co_await within(clock, kShimStarts, [](State& state) -> Task<bool> {
        co_await state.all_started();
        co_return true;
    }(*this));
    for (std::size_t i = 0; i < workers.size(); ++i) {
        const Worker& worker = *workers[i];
        const ShimReport& failure = worker.failure();
        if (failure.kind == ShimReport::Kind::kFailed) {
            if (failure.stage == ShimStage::kExecute)
                co_return describe(process::diagnose_program(
                                       process::program_candidates(
                                           starts[i].command[0],
                                           value_of(starts[i], "PATH", process::path_of({}))),
                                       starts[i].command[0], failure.error),
                                   starts[i]);
            co_return system_error(
                fmt::format("{} can't be started: {}", name_of(starts[i]),
                            failure.stage == ShimStage::kAffinity ? "binding it to its processors"
                                                                  : "making its process"),
                failure.error);
        }
        if (worker.pid() == 0)
            co_return Error(Code::kUnavailable,
                            fmt::format("{} can't be started: its shim {}", name_of(starts[i]),
                                        in_time ? "was killed" : "does not answer"));
    }
    co_return Result<void>();
}

Task<void> LocalWorkers::State::all_started() {
    const auto starting = [](const auto& worker) {
        return worker->state() == Worker::State::kStarting;
    };
    while (std::ranges::any_of(workers, starting)) co_await changed.wait();
}

Task<Result<void>> LocalWorkers::State::take_over() {
    auto found = load_set_record(directory.path());
    if (!found) {
        log::warning("what an earlier agent left can't be read, and is not taken over",
                     {{"error", found.error().message()}});
        co_return Result<void>();
    }
    if (!*found) co_return Result<void>();
    set = **std::move(found);
    tasks = std::make_unique<TaskGroup>(executor);
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
    co_await tasks->join();
    forget_set();
}

void LocalWorkers::State::forget_set() {
    workers.clear();
    tasks.reset();
    const auto remove = [this](const std::string& name) {
        ::unlink((directory.path() / name).c_str());
    };
    for (const WorkerRecord& record : set->workers) {
        remove(record.socket);
        ::unlink(record.progress.c_str());
        remove(fmt::format("error-{}.json", record.local_rank));
    }
    remove(std::string(kSetRecordName));
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
    co_return std::unique_ptr<LocalWorkers>(new LocalWorkers(std::move(state)));
}

std::optional<master::World> LocalWorkers::running() const {
    if (!state_->set) return std::nullopt;
    return state_->set->world;
}

Task<Result<void>> LocalWorkers::start(master::World world, std::vector<WorkerStart> workers) {
    State& state = *state_;
    CHECK(!state.set, "workers were started while others run");
    state.set.emplace(SetRecord{.world = std::move(world), .workers = {}});
    state.tasks = std::make_unique<TaskGroup>(state.executor);
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

Task<void> LocalWorkers::let_go() {
    State& state = *state_;
    if (!state.set) co_return;
    co_await state.tasks->stop();
    state.workers.clear();
    state.tasks.reset();
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

}  // namespace muster::agent
