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

/// Appends changes to the file: a thread writes everything that gathered during its last write in
/// one transaction, and in the same one deletes history that has left the window. A second thread
/// carries the write-ahead log over into the file; if the log outgrows its limit nevertheless, the
/// first thread waits for it.
///
/// The first error ends writing for good: after a failed write it is unknown what is on disk.
class FileWriter {
  public:
    struct Settings {
        HistoryLimit history = {};  ///< what is kept; at least the newest change is
        std::uint64_t checkpoint_bytes = 0;
        std::uint64_t log_limit_bytes = 0;
    };
    /// Called on the writer's thread, in this order: commits, at most one failure with no commit
    /// after it, the end.
    struct Listener {
        std::function<void(Revision last)> committed;  ///< everything up to it is on disk
        std::function<void(Error error)> failed;
        std::function<void()> ended;
    };

    /// Owns both connections; `superseded` are the rows that are history already.
    FileWriter(std::unique_ptr<Connection> writer, std::unique_ptr<Connection> checkpointer,
               std::deque<Superseded> superseded, Settings settings, Listener listener);
    /// Calls end() and waits for it.
    ~FileWriter();

    /// Appends some rows in revision order. Not after end(). Any one thread.
    void append(std::vector<ChangeRow> rows);
    /// Writes what was appended, carries the log over, and closes the file. May be called again.
    void end();

  private:
    class Work;
    std::unique_ptr<Work> work_;
};

}  // namespace muster::store
