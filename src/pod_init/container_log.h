#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "pod_init/cri_log.h"
#include "pod_init/init_protocol.h"

namespace muster::pod_init {

/// Writes one container's log in CRI form, and begins a new file when one is full; the oldest is
/// deleted. Used inside the pod: plain system calls on a directory that was opened outside.
class ContainerLog {
  public:
    static Result<ContainerLog> open(UniqueFd directory, std::string name, LogLimits limits);

    void write(LogStream stream, std::string_view bytes);
    /// Writes a last line without a newline. Returns what the log lacks; "" if it is complete.
    std::string finish();

  private:
    ContainerLog(UniqueFd directory, std::string name, LogLimits limits)
        : directory_(std::move(directory)), name_(std::move(name)), limits_(limits) {}

    void store();
    std::size_t fitting(std::string_view lines) const;
    Result<void> append(std::string_view lines);
    Result<void> begin_file();
    void turn_over();

    UniqueFd directory_;
    std::string name_;
    LogLimits limits_;
    UniqueFd file_;
    std::uint64_t size_ = 0;
    CriEncoder encoder_;
    std::string lines_;
    std::uint64_t lost_bytes_ = 0;
    std::string first_failure_;
};

}  // namespace muster::pod_init
