#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "workers/workers.h"

namespace muster::workers {

/// The index of the end that caused the others; nullopt if none of them is a failure. Ends that
/// another worker's may well have caused count only if there are no others, even if these came
/// later: an exit code without an error, an error about a lost connection, SIGABRT, and signals that
/// ask a program to end. Of those that count it picks the earliest by the workers' own clocks, as
/// torchrun does. Among ends at the same time, picks the one that the others are least likely to
/// have caused: out of memory first, then a fault of the process itself (SIGSEGV), then a reported
/// error, and last a process ended from outside.
std::optional<std::size_t> first_cause(std::span<const WorkerEnd> ends);

/// "exit code 1", "SIGSEGV (exit code 139)", "SIGKILL, out of memory (exit code 137)".
std::string describe_status(const WorkerEnd& end);

/// One failure, with what is known besides how it ended.
struct Failure {
    WorkerEnd end;
    std::string traceback = {};  ///< from its error file; empty if there is none
    std::string content = {};    ///< of its error file
};

/// The report for people, in place of torchrun's summary: the cause first, then the failures that
/// followed from it, each with rank, time, status, pid and error file. `host` is this node's name.
std::string failure_report(const std::string& what, const std::string& host,
                           std::span<const Failure> failures);

}  // namespace muster::workers
