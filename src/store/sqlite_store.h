#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "store/store.h"

namespace muster::store {

struct SqliteStoreOptions {
    /// What a restart still knows.
    HistoryLimit history = {};
    /// The write-ahead log is carried over into the file whenever it has grown by this much; if it
    /// exceeds its limit nevertheless, writers wait.
    std::uint64_t checkpoint_bytes = 16u << 20;
    std::uint64_t log_limit_bytes = 64u << 20;
    unsigned reading_threads = 4;  ///< while it opens; may be more than there are cores
    /// Whether new objects may be stored. While it returns false, creations are refused with kUnavailable,
    /// and what is there can be changed and removed. Null: always. On the loop.
    std::function<bool()> has_room = {};
    /// False: nothing is synced, for stores that no one needs after a loss of power.
    bool durable = true;
    /// SQLite's VFS by name; its default if empty. Tests use a disk that fails.
    std::string vfs = {};
};

/// Objects in one SQLite file, created if it is missing. When a write returns it is on disk and
/// survives a crash or a loss of power, as far as the disk keeps what it has confirmed.
///
/// All objects are in memory too, so reads do not touch the disk. Writes that begin together or
/// while the disk is busy share one transaction. The first error of the file ends writing: queued
/// and later writes are refused with kUnavailable, and failure() says why.
///
/// Opening blocks until everything is read and checked. It refuses, with the file, the reason and
/// what to do: a file that another process has open (`PATH-lock` names it), that belongs to another
/// program or is of a newer version, that can't be written, or that is damaged; a damaged file is
/// copied (`PATH.damaged`) and left unchanged.
///
/// Thread: the loop of `executor`, which outlives the store; it has two threads of its own. Without
/// stop() its destructor blocks until the writes in progress are on disk, and their callers never
/// get an answer.
Result<std::unique_ptr<Store>> open_sqlite_store(std::string path, SqliteStoreOptions options,
                                                 asio::any_io_executor executor);

}  // namespace muster::store
