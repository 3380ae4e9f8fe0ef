#pragma once

#include <atomic>
#include <filesystem>
#include <memory>

#include "base/async/side_thread.h"
#include "base/async/task_group.h"
#include "base/result.h"

namespace muster::control_plane {

/// Removes what is below `name` in the directory, and it; follows no link. False if something stays,
/// also because `stop` was set meanwhile.
bool remove_tree(int directory, const char* name, const std::atomic<bool>& stop);

/// Removes directories of volumes that are gone, which may have millions of files: each is renamed
/// at once, and removed by a thread beside the loop. What is left when the process ends is removed
/// after the next start. Thread: the loop.
class DiscardedFiles {
  public:
    /// `root`: the directory of all volumes.
    DiscardedFiles(asio::any_io_executor executor, std::filesystem::path root);
    ~DiscardedFiles();
    DiscardedFiles(const DiscardedFiles&) = delete;
    DiscardedFiles& operator=(const DiscardedFiles&) = delete;

    /// What an earlier process has left.
    void start();
    /// A directory below the root; one that does not exist is no error.
    Result<void> discard(const std::filesystem::path& directory);
    /// Ends what is under way, which is continued after the next start.
    Task<void> stop();

  private:
    void begin();
    Task<void> remove_all();

    std::filesystem::path root_;
    std::filesystem::path waiting_;  ///< the directories that are to be removed
    std::shared_ptr<std::atomic<bool>> stop_ = std::make_shared<std::atomic<bool>>(false);
    SideThread thread_;
    TaskGroup tasks_;
    bool removes_ = false;
    bool more_ = false;
};

}  // namespace muster::control_plane
