#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/async/async.h"
#include "base/async/signal.h"
#include "base/result.h"
#include "pod_init/init_protocol.h"

namespace muster::runtime {

/// The log of one instance of a container, as seen by `muster`: a CRI file and its predecessors,
/// written by the container's supervisor in a directory of the container. Thread: the loop.
class LogFile {
  public:
    /// Makes the newest file, empty, and opens the directory for the supervisor.
    static Result<std::shared_ptr<LogFile>> create(asio::any_io_executor executor,
                                                   std::filesystem::path path);

    /// A log on disk that is complete.
    static Result<std::shared_ptr<LogFile>> open(asio::any_io_executor executor,
                                                 std::filesystem::path path);

    /// A log on disk that another process writes.
    static Result<std::shared_ptr<LogFile>> follow(asio::any_io_executor executor,
                                                   std::filesystem::path path);

    /// The log is complete; readers that follow it reach the end.
    void finish() {
        finished_ = true;
        changed_.notify_all();
    }
    /// Removes all files; readers that have one open keep it.
    void discard() const;

    bool finished() const { return finished_; }
    const std::filesystem::path& path() const { return path_; }
    int directory() const { return directory_.get(); }
    Signal& changed() { return changed_; }

    LogFile(asio::any_io_executor executor, std::filesystem::path path, UniqueFd directory)
        : path_(std::move(path)), directory_(std::move(directory)), changed_(executor) {}

  private:
    std::filesystem::path path_;
    UniqueFd directory_;
    Signal changed_;
    bool finished_ = false;
};

/// Wakes the readers of growing logs, with one inotify for all of them. Thread: the loop.
class LogWatch {
  public:
    static Result<std::unique_ptr<LogWatch>> create(asio::any_io_executor executor);

    /// From now on every change of the log's directory notifies `log->changed()`.
    Result<void> follow(const std::shared_ptr<LogFile>& log);
    /// One at a time; runs until it is cancelled.
    Task<void> run();

    LogWatch(asio::any_io_executor executor, UniqueFd inotify)
        : inotify_(executor, inotify.release()) {}

  private:
    void notify(int watch);

    asio::posix::stream_descriptor inotify_;
    std::map<int, std::vector<std::weak_ptr<LogFile>>> followed_;  ///< by watch descriptor
};

}  // namespace muster::runtime
