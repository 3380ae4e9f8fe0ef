#include "cli/internal/share/mps_daemon.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "base/time/time_limit.h"
#include "muster_run/node/node_facts.h"
#include "workers/first_cause.h"

namespace muster::cli {

namespace {

constexpr std::string_view kProgram = "nvidia-cuda-mps-control";
constexpr const char* kPipes = "mps";
constexpr const char* kLogs = "mps-log";
constexpr std::chrono::seconds kStartsWithin{10};

void remove_files(const std::filesystem::path& directory) {
    std::error_code left;
    for (const char* name : {kPipes, kLogs}) std::filesystem::remove_all(directory / name, left);
}

/// Devices that the daemon were told of would get other numbers for its clients, who select among
/// all of them by the caller's list.
launch::Variables for_daemon(launch::Variables variables, const std::filesystem::path& directory) {
    std::erase_if(variables, [](const auto& variable) {
        return variable.first == "CUDA_VISIBLE_DEVICES" ||
               variable.first == "CUDA_MPS_LOG_DIRECTORY";
    });
    variables.emplace_back("CUDA_MPS_PIPE_DIRECTORY", directory / kPipes);
    variables.emplace_back("CUDA_MPS_LOG_DIRECTORY", directory / kLogs);
    return variables;
}

}  // namespace

/// It goes into the background once clients can connect.
Task<Result<void>> MpsDaemon::run(OwnProcesses& processes, Clock& clock,
                                  launch::WorkerStart daemon) {
    for (const char* name : {kPipes, kLogs}) {
        std::error_code error;
        std::filesystem::create_directory(processes.directory / name, error);
        if (error)
            co_return system_error(
                fmt::format("making {} in {}", name, processes.directory.string()), error.value());
    }
    std::vector<launch::WorkerStart> starts;
    starts.push_back(std::move(daemon));
    CO_TRY_VOID(co_await processes.start(std::move(starts)));
    const auto end = co_await within(clock, kStartsWithin, processes.workers->next_end());
    if (!end)
        co_return Error(Code::kUnavailable, fmt::format("{} -d does not go into the background "
                                                        "within 10 s",
                                                        kProgram));
    if (end->exit_code != 0)
        co_return Error(Code::kUnavailable, fmt::format("{} -d ended with {}", kProgram,
                                                        workers::describe_status(*end)));
    co_return Result<void>();
}

Task<Result<MpsDaemon>> MpsDaemon::start(asio::any_io_executor executor, Clock& clock, Rng& rng,
                                         ProcessSurroundings around) {
    const std::string program = run::find_in_path({&kProgram, 1}, around.variables);
    if (program.empty())
        co_return Error(Code::kInvalid,
                        fmt::format("PATH has no {}, which comes with NVIDIA's driver; leave --mps "
                                    "out, and the processes take turns on the GPU",
                                    kProgram));
    CO_TRY(OwnProcesses processes,
           co_await OwnProcesses::open(std::move(executor), clock, rng, around, "[mps] "));
    launch::WorkerStart daemon{.command = {program, "-d"},
                               .environment = for_daemon(around.variables, processes.directory)};
    const std::string directory = processes.directory / kPipes;
    Result<void> runs = co_await run(processes, clock, std::move(daemon));
    MpsDaemon started(std::move(processes), directory);
    if (!runs) {
        co_await started.stop();
        co_return std::move(runs).error();
    }
    co_return started;
}

Task<void> MpsDaemon::stop() {
    co_await processes_.workers->stop(Duration::zero());
    remove_files(processes_.directory);
    processes_.workers.reset();
}

}  // namespace muster::cli
