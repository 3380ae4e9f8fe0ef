#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace muster::workers {

/// One log of a worker, as a file with older ones beside it: "stdout.log", then "stdout.log.1" and
/// so on. Cut where a line ends. What can't be written, as the disk is full or the directory gone,
/// is counted, and the file says where something is missing once it can be written again: whoever
/// writes never waits and never fails.
///
/// Owns the descriptor. Plain system calls; for programs that load no library.
class LogFile {
  public:
    /// `most` bytes a file, 0 for no limit; `files` in all, one at least.
    LogFile(std::string path, std::uint64_t most, std::uint32_t files)
        : path_(std::move(path)), most_(most), files_(files == 0 ? 1 : files) {}
    ~LogFile();
    LogFile(const LogFile&) = delete;
    LogFile& operator=(const LogFile&) = delete;

    /// Opens it, so that it is there whether or not anything is written.
    void open();
    void write(std::string_view bytes);

    const std::string& path() const { return path_; }
    std::uint64_t lost_bytes() const { return lost_; }
    /// Why the first of them was lost; an errno.
    int first_error() const { return first_error_; }

  private:
    bool open_now();
    void write_all(std::string_view bytes);
    void lose(std::size_t bytes, int error);
    void rotate();

    std::string path_;
    std::uint64_t most_;
    std::uint32_t files_;
    int fd_ = -1;
    std::uint64_t size_ = 0;
    std::uint64_t lost_ = 0;
    std::uint64_t untold_ = 0;  ///< of them, the file does not know
    int first_error_ = 0;
};

}  // namespace muster::workers
