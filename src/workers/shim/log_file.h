#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace muster::workers {

/// A worker's log file, with older ones beside it: "stdout.log", then "stdout.log.1" and so on.
/// Rotates at the end of a line. Bytes that can't be written, because the disk is full or the
/// directory is gone, are counted, and once writing works again the file says where they are
/// missing: the writer never waits and never fails.
///
/// Owns the descriptor. Plain system calls; for programs that load no library.
class LogFile {
  public:
    /// `most`: bytes per file, 0 for no limit. `files`: how many to keep, at least one.
    LogFile(std::string path, std::uint64_t most, std::uint32_t files)
        : path_(std::move(path)), most_(most), files_(files == 0 ? 1 : files) {}
    ~LogFile();
    LogFile(const LogFile&) = delete;
    LogFile& operator=(const LogFile&) = delete;

    /// Creates the file even if nothing is ever written.
    void open();
    void write(std::string_view bytes);

    const std::string& path() const { return path_; }
    /// Bytes in the current file.
    std::uint64_t size() const { return size_; }
    /// A descriptor that reads the current file, for the caller to close; -1 if it is not open or
    /// not a regular file.
    int open_reader() const;
    std::uint64_t lost_bytes() const { return lost_; }
    /// The errno for which the first bytes were lost.
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
    std::uint64_t untold_ = 0;  ///< lost bytes that the file does not mention yet
    int first_error_ = 0;
};

}  // namespace muster::workers
