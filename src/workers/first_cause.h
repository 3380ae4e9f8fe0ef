#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "workers/workers.h"

namespace muster::workers {

/// Which of the ends began it; nothing when none is a failure. The earliest by their own clocks, as
/// torchrun has it; of those at the same time the one that others can't have brought about: memory,
/// then a fault of its own (SIGSEGV), then an error that is told, and last what was ended from
/// outside.
std::optional<std::size_t> first_cause(std::span<const WorkerEnd> ends);

/// "exit code 1", "SIGSEGV (exit code 139)", "SIGKILL, out of memory (exit code 137)".
std::string describe_status(const WorkerEnd& end);

/// One failure with what is known beside its end.
struct Failure {
    WorkerEnd end;
    std::string traceback = {};  ///< of its error file; empty: none
};

/// For people, in the place of torchrun's summary: the cause first, and then those that it took
/// with it, each with rank, time, status, pid and error file. `host` is this node's name.
std::string failure_report(const std::string& what, const std::string& host,
                           std::span<const Failure> failures);

}  // namespace muster::workers
