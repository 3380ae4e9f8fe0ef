#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/signal.h"
#include "workers/local/local_workers.h"
#include "workers/local/memory_kills.h"
#include "workers/local/spares/spares.h"
#include "workers/local/worker.h"
#include "workers/local/worker_logs.h"
#include "workers/local/worker_program.h"
#include "workers/local/worker_set_state.h"

namespace muster::workers {

/// A program may come over a slow network before it runs.
inline constexpr Duration kShimStarts = std::chrono::seconds(60);

struct LocalWorkers::State {
    /// A worker of the set that starts.
    struct Start {
        launch::WorkerStart wanted;
        WorkerProgram program;
        launch::Placement placement = {};
        Spare* spare = nullptr;  ///< that shall be it
    };

    State(asio::any_io_executor its_executor, Clock& its_clock, JobDirectory its_directory,
          LocalWorkersOptions its_options, UniqueFd its_program);

    // starting.cc
    Task<Result<void>> start(std::vector<launch::WorkerStart> wanted);
    Result<void> prepare(std::vector<launch::WorkerStart> wanted);
    Result<std::vector<launch::Placement>> place_all(
        const std::vector<launch::WorkerStart>& wanted);
    void choose_spare(Start& start);
    WorkerRecord cold_record(const launch::WorkerStart& wanted) const;
    Result<ShimOrder> order_for(std::size_t which);
    Result<void> start_cold(std::size_t which);
    Task<void> start_warm(std::size_t which, Result<void>& outcome);
    Task<Result<void>> start_each();
    Result<void> check_started() const;
    Task<void> all_started();
    void open_spares();
    void want_spares();

    Task<Result<void>> take_over();
    void add(WorkerRecord record, ProgressFile progress, UniqueFd control, pid_t shim);
    void ended(Worker& worker, ProcessEnd how);
    Task<void> end_set(Duration grace);
    Task<void> all_gone();
    void forget_set();

    std::function<void(Worker&, ProcessEnd)> on_end() {
        return [this](Worker& worker, ProcessEnd how) { ended(worker, std::move(how)); };
    }
    WorkerRecord& record_of(const Start& start) {
        return *std::ranges::find(set->workers, start.wanted.local_rank, &WorkerRecord::local_rank);
    }
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
    MemoryKills kills;
    std::string parent_group;
    Signal changed;
    Signal ends_changed;
    std::optional<WorkerSetState> set;
    bool stopping = false;
    std::vector<std::unique_ptr<Worker>> workers;
    std::vector<Start> starts;  ///< until all run
    std::unique_ptr<Spares> spares;
    std::vector<WorkerEnd> ends;
};

}  // namespace muster::workers
