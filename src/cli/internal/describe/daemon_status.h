#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace muster::cli {

/// Jobs by how they are.
struct JobCounts {
    std::size_t unfinished = 0;
    std::size_t succeeded = 0;
    std::size_t failed = 0;

    friend bool operator==(const JobCounts&, const JobCounts&) = default;
};

/// What `muster status` says. Sizes are in bytes.
struct DaemonStatus {
    enum class State : std::uint8_t { kDown, kStarting, kUp };

    State state = State::kDown;
    std::string directory;
    int process = 0;                           ///< of the daemon
    int supervisor = 0;                        ///< 0: none
    std::string address;                       ///< "https://127.0.0.1:6443"
    std::string version;                       ///< of the program that serves; may be empty
    std::string not_ready;                     ///< why; empty if it is, or is not up
    std::optional<std::uint64_t> store_bytes;  ///< with its log
    std::optional<std::uint64_t> log_bytes;    ///< of logs of pods
    std::optional<std::uint64_t> free_bytes;   ///< on its disk
    std::optional<JobCounts> jobs;             ///< unset: not known
};

// Pure.
std::string status_text(const DaemonStatus& status);
/// One JSON object and a line end; its fields are in docs/serving.md.
std::string status_json(const DaemonStatus& status);

/// "1.4 MiB", "512 B".
std::string size_text(std::uint64_t bytes);

}  // namespace muster::cli
