#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/signal.h"
#include "kube/client.h"
#include "kube/transport.h"
#include "runtime/internal/cri_log.h"
#include "runtime/internal/unique_fd.h"

namespace muster::runtime {

/// The log of one instance of a container: a CRI file that grows until finish(). Shared by the
/// container's output pumps and by readers that follow it. Thread: the loop.
class LogFile {
  public:
    static Result<std::shared_ptr<LogFile>> create(asio::any_io_executor executor,
                                                   std::filesystem::path path);

    void write(LogStream stream, std::string_view bytes, WallTime now);
    /// No more will come; readers that follow see the end.
    void finish(WallTime now);

    bool finished() const { return finished_; }
    const std::filesystem::path& path() const { return path_; }
    Signal& changed() { return changed_; }

    LogFile(asio::any_io_executor executor, std::filesystem::path path, UniqueFd fd)
        : path_(std::move(path)), fd_(std::move(fd)), changed_(executor) {}

  private:
    void append(std::string_view lines);

    std::filesystem::path path_;
    UniqueFd fd_;
    Signal changed_;
    CriEncoder encoder_;
    std::string lines_;
    bool finished_ = false;
    bool failed_ = false;
};

/// What `kubectl logs` shows of the file: raw text, with the options applied. `now` is for
/// sinceSeconds.
Result<std::unique_ptr<kube::TextStream>> open_log(std::shared_ptr<LogFile> log,
                                                   const kube::LogOptions& options, WallTime now);

}  // namespace muster::runtime
