#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "store/internal/file/change_row.h"
#include "store/internal/file/replay.h"
#include "store/internal/file/sqlite.h"

namespace muster::store {

/// Appends changes to the file: a thread writes what has gathered while it wrote what was before,
/// in one transaction, and deletes history that has left the window in the same. A second thread
/// carries the write-ahead log over into the file; when the log outgrows its limit nevertheless,
/// the first one waits for it.
///
/// The first error ends writing for good: after a failed write it is unknown what is on disk.
class FileWriter {
  public:
    struct Settings {
        std::size_t history = 0;  ///< changes that stay; at least the newest does
        std::uint64_t checkpoint_bytes = 0;
        std::uint64_t log_limit_bytes = 0;
    };
    /// Told on the writer's thread, in this order: commits, at most one failure and no commit
    /// after it, the end.
    struct Listener {
        std::function<void(Revision last)> committed;  ///< everything up to it is on disk
        std::function<void(Error error)> failed;
        std::function<void()> ended;
    };

    /// Owns both connections; `superseded` is what is history already.
    FileWriter(std::unique_ptr<Connection> writer, std::unique_ptr<Connection> checkpointer,
               std::deque<Superseded> superseded, Settings settings, Listener listener);
    /// end(), and waits for it.
    ~FileWriter();

    /// Some, in revision order. Not after end(). Any one thread.
    void append(std::vector<ChangeRow> rows);
    /// Lets what was appended be written, the log be carried over, and the file be closed. Again is
    /// harmless.
    void end();

  private:
    class Work;
    std::unique_ptr<Work> work_;
};

}  // namespace muster::store
