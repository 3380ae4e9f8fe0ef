#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <memory>

#include "base/clock.h"
#include "runtime/internal/log_file.h"
#include "runtime/internal/unique_fd.h"

namespace muster::runtime {

/// Carries one output of a container into its log, as it comes. Thread: the loop.
class OutputPump {
  public:
    /// Gives the end that the container writes to; it is closed here once the container has it.
    static Result<std::pair<std::shared_ptr<OutputPump>, UniqueFd>> create(
        asio::any_io_executor executor, Clock& clock, std::shared_ptr<LogFile> log,
        LogStream stream);

    /// Runs until the last writer is gone or drain() was called.
    Task<void> run();
    /// Takes what is in the pipe now and stops: a writer that lingers after its container's end
    /// holds nobody up.
    void drain();

    OutputPump(asio::any_io_executor executor, Clock& clock, std::shared_ptr<LogFile> log,
               LogStream stream, UniqueFd pipe)
        : clock_(clock), log_(std::move(log)), stream_(stream), pipe_(executor, pipe.release()) {}

  private:
    enum class Read { kSome, kNothingYet, kEnd };
    Read read_once();

    Clock& clock_;
    std::shared_ptr<LogFile> log_;
    LogStream stream_;
    asio::posix::stream_descriptor pipe_;
};

}  // namespace muster::runtime
