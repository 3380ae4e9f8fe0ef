#include "workers/worker/worker_program.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "workers/worker/worker_logs.h"

namespace muster::workers {

std::string name_of(const launch::WorkerStart& worker) {
    return fmt::format("worker {} (local rank {})", worker.rank, worker.local_rank);
}

namespace {

Error describe(const process::ProgramFailure& failure, const launch::WorkerStart& worker) {
    using enum process::ProgramFault;
    const std::string& program = worker.command[0];
    const auto why = [&]() -> std::string {
        switch (failure.fault) {
            case kMissing:
                if (program.find('/') != program.npos)
                    return fmt::format("{} does not exist", program);
                return fmt::format("PATH has no program {}", program);
            case kNotExecutable:
                if (failure.error == EISDIR) return failure.detail + " is a directory";
                return fmt::format(
                    "{} can't be executed: make it executable (chmod +x), or name its "
                    "interpreter before it",
                    failure.detail);
            case kInterpreterMissing:
                return fmt::format("the interpreter {} of {} does not exist", failure.detail,
                                   program);
            case kFormat:
                return fmt::format(
                    "{} is not a program for this machine; a script must begin with #! and its "
                    "interpreter",
                    failure.detail);
            case kOther:
                break;
        }
        return fmt::format("{}: {}", failure.detail, ::strerrordesc_np(failure.error));
    }();
    return {Code::kInvalid, fmt::format("{} can't be started: {}", name_of(worker), why)};
}

}  // namespace

Result<WorkerProgram> find_program(const launch::WorkerStart& worker) {
    CHECK(!worker.command.empty(), "a worker without a command");
    WorkerProgram command;
    for (const auto& [name, value] : worker.environment)
        command.environment.push_back(fmt::format("{}={}", name, value));
    command.candidates =
        process::program_candidates(worker.command[0], process::path_of(command.environment));
    const process::ProgramFailure failure =
        process::diagnose_program(command.candidates, worker.command[0], 0);
    if (failure.fault != process::ProgramFault::kOther) return describe(failure, worker);
    return command;
}

Error why_not_executed(const launch::WorkerStart& worker, int error) {
    const std::string path = value_of(worker, "PATH", process::path_of({}));
    return describe(process::diagnose_program(process::program_candidates(worker.command[0], path),
                                              worker.command[0], error),
                    worker);
}

}  // namespace muster::workers
