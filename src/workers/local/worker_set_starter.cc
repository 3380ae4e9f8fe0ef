#include "workers/local/worker_set_starter.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/async/task_group.h"
#include "base/async/then_stop.h"
#include "base/log.h"
#include "base/time/time_limit.h"
#include "workers/worker/shim_process.h"

namespace muster::workers {

namespace fs = std::filesystem;

namespace {

Result<std::vector<launch::Placement>> place_all(const std::vector<launch::WorkerStart>& wanted,
                                                 const launch::PlacementWish& wish) {
    std::vector<launch::Placement> placements(wanted.size());
    if (wish == launch::PlacementWish{}) return placements;
    TRY(const launch::Topology machine, launch::read_topology("/sys", launch::allowed_cpus()));
    std::vector<launch::Place> places;
    for (const launch::WorkerStart& start : wanted) {
        const std::string visible = value_of(start, "CUDA_VISIBLE_DEVICES");
        // The worker picks this one of the devices that it sees; with --virtual-local-rank it sees
        // one.
        const int index = value_of(start, "LOCAL_RANK") == "0" ? 0 : start.local_rank;
        places.push_back(
            {.local_rank = start.local_rank,
             .local_size = static_cast<int>(wanted.size()),
             .device = launch::device_of(
                 index, visible.empty() ? std::nullopt : std::optional(visible), machine)});
    }
    std::string told;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        TRY(placements[i], place(wish, machine, places, i));
        if (placements[i].note.empty() || placements[i].note == told) continue;
        told = placements[i].note;
        log::info("placement of workers", {{"note", told}});
    }
    return placements;
}

}  // namespace

WorkerSetStarter::WorkerSetStarter(asio::any_io_executor executor, Clock& clock,
                                   WorkerSurroundings around, WorkerSet& set, WorkerLogs& logs)
    : executor_(std::move(executor)),
      clock_(clock),
      around_(std::move(around)),
      set_(set),
      logs_(logs) {}

void WorkerSetStarter::give_up() {
    for (const Start& start : starts_)
        if (start.spare != nullptr && spares_ != nullptr) spares_->drop(start.spare);
    starts_.clear();
}

WorkerRecord WorkerSetStarter::cold_record(const launch::WorkerStart& wanted) const {
    WorkerRecord record{
        .local_rank = wanted.local_rank,
        .rank = wanted.rank,
        .socket = fmt::format("worker-{}.sock", wanted.local_rank),
        .progress = around_.directory.path() / fmt::format("progress-{}", wanted.local_rank)};
    if (!around_.parent_group.empty())
        record.group = fmt::format("{}/{}-{}", around_.parent_group,
                                   around_.directory.path().filename().string(), wanted.local_rank);
    return record;
}

/// The complete order for a worker's shim; creates the worker's own files.
Result<ShimOrder> WorkerSetStarter::order_for(std::size_t which) {
    const Start& start = starts_[which];
    TRY(WorkerFiles files, logs_.prepare(start.wanted, around_.directory.path()));
    WorkerRecord& record = record_of(start);
    record.error_file = files.error_file;
    ShimOrder order;
    order.candidates = start.program.candidates;
    order.arguments = start.wanted.command;
    order.environment = start.program.environment;
    const auto give = [&order](const std::string& name, const std::string& value) {
        std::erase_if(order.environment,
                      [&](const std::string& entry) { return entry.starts_with(name + "="); });
        order.environment.push_back(name + "=" + value);
    };
    give("TORCHELASTIC_ERROR_FILE", files.error_file);
    give("MUSTER_PROGRESS", record.progress);
    if (spares_ != nullptr && which == 0) give("MUSTER_LEARN_MODULES", spares_->options().imports);
    order.out = std::move(files.out);
    order.error = std::move(files.error);
    order.rotate_bytes = logs_.plan().max_bytes();
    order.rotate_files = logs_.plan().max_files();
    order.directory = around_.directory.path();
    order.socket = record.socket;
    order.files = {fs::path(record.progress).filename(),
                   fmt::format("error-{}.json", start.wanted.local_rank)};
    order.record = kWorkerSetStateName;
    order.keep = around_.keep;
    order.group = record.group;
    order.cpus = start.placement.cpus;
    order.memory = start.placement.memory;
    order.nodes = start.placement.nodes;
    order.orphan_grace_ms = around_.orphan_grace_ms;
    order.core_bytes = around_.core_bytes;
    return order;
}

Result<void> WorkerSetStarter::start_cold(std::size_t which) {
    TRY(const ShimOrder order, order_for(which));
    const WorkerRecord& record = record_of(starts_[which]);
    TRY(ProgressFile counted, ProgressFile::create(record.progress));
    TRY(StartedShim shim, start_shim({.program = around_.shim_program,
                                      .directory = around_.directory.fd(),
                                      .input = record.local_rank == 0 ? around_.input : -1},
                                     order));
    set_.add(record, std::move(counted), std::move(shim.control), shim.pid);
    return {};
}

/// Starts it in its spare, or cold if that fails.
Task<void> WorkerSetStarter::start_warm(std::size_t which, Result<void>& outcome) {
    Spare* const spare = starts_[which].spare;
    outcome = Result<void>();
    Result<SpareStarted> started = Error(
        Code::kUnavailable, "the spare does not answer: its imports take too long, or it hangs");
    Result<ShimOrder> order = order_for(which);
    if (order) {
        order->spare = true;
        auto answer = co_await within(
            clock_, spares_->options().answers,
            spare->become(*order, start_message(arguments_for(starts_[which].wanted),
                                                order->environment, fs::current_path())));
        if (answer) started = *std::move(answer);
    } else {
        started = order.error();
    }
    if (!started) {
        spares_->say(started.error().prefix("its spare failed to become it").message());
        spares_->drop(spare);
        starts_[which].spare = nullptr;
        record_of(starts_[which]) = cold_record(starts_[which].wanted);
        outcome = start_cold(which);
        co_return;
    }
    if (!started->warm) {
        spares_->say(started->why);
        spares_->learn_from(*spare);
    }
    std::unique_ptr<Worker> worker = co_await spare->release();
    set_.add(std::move(worker), record_of(starts_[which]));
    spares_->forget(spare);
    starts_[which].spare = nullptr;
    log::info("a worker starts in a warm spare",
              {{"local_rank", starts_[which].wanted.local_rank}, {"warm", started->warm}});
}

Task<Result<void>> WorkerSetStarter::start_each() {
    std::vector<Result<void>> outcomes(starts_.size());
    TaskGroup begun(executor_);
    for (std::size_t i = 0; i < starts_.size(); ++i)
        if (starts_[i].spare != nullptr)
            begun.spawn("start a worker in a spare", start_warm(i, outcomes[i]),
                        [&outcomes, i](const std::string& what) {
                            outcomes[i] = Error(Code::kInternal, what);
                        });
        else if (outcomes[i] = start_cold(i); !outcomes[i])
            break;
    co_await then_stop(begun.join(), begun);
    for (std::size_t i = 0; i < starts_.size(); ++i)
        if (!outcomes[i])
            co_return outcomes[i].error().prefix(name_of(starts_[i].wanted) + " can't be started");
    co_return Result<void>();
}

/// Reports everything that can be known to be wrong before anything runs.
Result<void> WorkerSetStarter::prepare(std::vector<launch::WorkerStart> wanted) {
    std::vector<WorkerProgram> programs;
    for (const launch::WorkerStart& one : wanted) {
        TRY(WorkerProgram found, find_program(one));
        programs.push_back(std::move(found));
    }
    TRY(std::vector<launch::Placement> placements, place_all(wanted, around_.placement));
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (!wanted[i].cpus.empty()) placements[i].cpus = wanted[i].cpus;
        set_.plan(cold_record(wanted[i]));
        starts_.push_back({.wanted = std::move(wanted[i]),
                           .program = std::move(programs[i]),
                           .placement = std::move(placements[i])});
    }
    return {};
}

void WorkerSetStarter::choose_spare(Start& start) {
    const std::optional<SpareRecipe> recipe = recipe_for(start.wanted, start.placement);
    if (!recipe) return;
    start.spare = spares_->take(*recipe);
    if (start.spare == nullptr) return;
    WorkerRecord& record = record_of(start);
    record = start.spare->record();
    record.rank = start.wanted.rank;
}

Task<Result<void>> WorkerSetStarter::start(std::vector<launch::WorkerStart> wanted) {
    CO_TRY_VOID(prepare(std::move(wanted)));
    set_.kills().begin();
    if (spares_ != nullptr) {
        // Imports that workers of the previous set recorded as they ended don't count for this one.
        spares_->pause();
        for (Start& start : starts_) choose_spare(start);
    }
    CO_TRY_VOID(set_.save());
    CO_TRY_VOID(co_await start_each());
    // Now with the details of each worker.
    CO_TRY_VOID(set_.save());
    co_await set_.wait_until_started();
    CO_TRY_VOID(check_started());
    if (spares_ != nullptr) want_spares();
    starts_.clear();
    co_return Result<void>();
}

Result<void> WorkerSetStarter::check_started() const {
    for (const auto& worker : set_.workers()) {
        const auto start =
            std::ranges::find(starts_, worker->record().local_rank,
                              [](const Start& one) { return one.wanted.local_rank; });
        const ShimReport& failure = worker->failure();
        if (failure.kind == ShimReport::Kind::kFailed) {
            if (failure.stage == ShimStage::kExecute)
                return why_not_executed(start->wanted, failure.error);
            return system_error(
                fmt::format("{} can't be started: {}", name_of(start->wanted),
                            failure.stage == ShimStage::kAffinity ? "binding it to its processors"
                                                                  : "making its process"),
                failure.error);
        }
        if (worker->pid() == 0)
            return Error(Code::kUnavailable,
                         fmt::format("{} can't be started: its shim {}", name_of(start->wanted),
                                     worker->state() == Worker::State::kStarting ? "does not answer"
                                                                                 : "was killed"));
    }
    return {};
}

void WorkerSetStarter::want_spares() {
    std::vector<SpareRecipe> recipes;
    for (const Start& start : starts_)
        if (auto recipe = recipe_for(start.wanted, start.placement))
            recipes.push_back(*std::move(recipe));
    spares_->want(std::move(recipes));
}

}  // namespace muster::workers
