#include "cli/internal/share/own_processes.h"

#include <fmt/format.h>

#include <utility>

#include "workers/logs/log_plan.h"
#include "workers/worker/job_directory.h"

namespace muster::cli {

namespace {

/// Of no earlier run, whose processes would be taken over.
Result<workers::JobDirectory> claim_directory(const launch::Variables& variables, Rng& rng) {
    const std::string identity = fmt::format("share {:016x}", rng.next());
    const std::string* const temporary = launch::find_variable(variables, "TMPDIR");
    auto directory = workers::JobDirectory::claim(
        temporary == nullptr || temporary->empty() ? "/tmp" : *temporary, identity);
    if (directory) return directory;
    auto in_memory = workers::JobDirectory::claim("/dev/shm", identity);
    return in_memory ? std::move(in_memory) : std::move(directory);
}

}  // namespace

Task<Result<OwnProcesses>> OwnProcesses::open(asio::any_io_executor executor, Clock& clock,
                                              Rng& rng, ProcessSurroundings around,
                                              std::string prefix) {
    CO_TRY(workers::LogPlan logs,
           workers::LogPlan::parse(
               {.log_dir = "/dev/null", .tee = "3", .line_prefix = std::move(prefix)}));
    CO_TRY(workers::JobDirectory directory, claim_directory(around.variables, rng));
    OwnProcesses opened{.directory = directory.path()};
    CO_TRY(opened.workers, co_await workers::LocalWorkers::open(
                               std::move(executor), clock, std::move(directory),
                               {.logs = std::move(logs), .core_bytes = around.core_bytes}));
    co_return opened;
}

Task<Result<void>> OwnProcesses::start(std::vector<launch::WorkerStart> starts) {
    job_protocol::World world{.generation = {.epoch = 1, .number = 1},
                              .members = {{.incarnation = {},
                                           .address = "127.0.0.1",
                                           .local_size = static_cast<int>(starts.size())}}};
    return workers->start(std::move(world), std::move(starts));
}

}  // namespace muster::cli
