#pragma once

#include <string>

#include "base/async/async.h"
#include "base/result.h"
#include "base/rng.h"
#include "base/time/clock.h"
#include "cli/internal/share/own_processes.h"
#include "launch/flags.h"

namespace muster::cli {

/// A control daemon of CUDA MPS for our processes alone: its clients find it by a directory that only
/// they are told. It and the server that it starts are below a shim, and end with it.
///
/// Stop it when its clients have ended. Thread: the loop.
class MpsDaemon {
  public:
    /// kInvalid: this machine has no such program. Returns when clients can connect.
    static Task<Result<MpsDaemon>> start(asio::any_io_executor executor, Clock& clock, Rng& rng,
                                         ProcessSurroundings around);

    /// The value of CUDA_MPS_PIPE_DIRECTORY for clients.
    const std::string& directory() const { return directory_; }
    Task<void> stop();

  private:
    MpsDaemon(OwnProcesses processes, std::string directory)
        : processes_(std::move(processes)), directory_(std::move(directory)) {}

    static Task<Result<void>> run(OwnProcesses& processes, Clock& clock,
                                  launch::WorkerStart daemon);

    OwnProcesses processes_;
    std::string directory_;
};

}  // namespace muster::cli
