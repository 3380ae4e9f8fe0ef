#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/time/clock.h"

namespace muster::control_plane {

/// The log of a process in the background: its standard output and error, in a file that only its
/// user may read (0600). When a line of Muster's own log would make the file too long, FILE becomes
/// FILE.1, FILE.1 becomes FILE.2, and a new one begins. If that fails, lines are added to the file
/// as it is, and the next line is another try. If someone has deleted or moved
/// the file, another begins in its place, and says so.
///
/// Any thread.
class DaemonLog {
  public:
    static constexpr std::uint64_t kFileBytes = std::uint64_t{10} << 20;
    static constexpr unsigned kKept = 3;

    /// `outputs`: descriptors that get each new file, 1 and 2 for a process.
    DaemonLog(std::filesystem::path path, std::vector<int> outputs, std::function<WallTime()> time,
              std::uint64_t file_bytes = kFileBytes);

    /// Opens the file and puts it in the place of the outputs.
    Result<void> open();
    /// A line with time and level, as on a terminal.
    void write(log::Level level, std::string_view line);

  private:
    void rotate();
    void replace_lost_file();
    std::string with_time(log::Level level, std::string_view line) const;
    Result<void> put_in_place();

    const std::filesystem::path path_;
    const std::vector<int> outputs_;
    const std::function<WallTime()> time_;
    const std::uint64_t file_bytes_;
    std::mutex mutex_;
};

}  // namespace muster::control_plane
