#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "store/store.h"

namespace muster::store {

struct SqliteStoreOptions {
    /// Changes that a restart still knows, of all resources together.
    std::size_t history = 10'000;
    /// The write-ahead log is carried over into the file whenever it has grown by so much, and
    /// writers wait where it is larger than its limit nevertheless.
    std::uint64_t checkpoint_bytes = 16u << 20;
    std::uint64_t log_limit_bytes = 64u << 20;
    unsigned reading_threads = 4;  ///< while it opens; more than cores do no harm
    /// Of SQLite, by name; its own default when empty. Tests put a disk there that fails.
    std::string vfs;
};

/// Objects in one SQLite file, made when there is none. What a write returned is on disk and stays
/// there through a crash and a loss of power, as far as the disk keeps what it has confirmed.
///
/// All objects are in memory too: reads cost no disk. Writes that are begun while the disk is busy,
/// or at once, share one transaction. The first error of the file ends writing: what is queued and
/// whatever comes later is refused with kUnavailable, and failure() says why.
///
/// Opening blocks until everything is read and checked. Refused, each with the file, the reason and
/// what to do: a file that another process has open (`PATH-lock` names it), that is another
/// program's or of a newer version, that can't be written, or that is damaged; of a damaged one a
/// copy is made (`PATH.damaged`) and nothing is changed.
///
/// Thread: the loop of `executor`, which outlives the store; it has two threads of its own. Without
/// stop() its destructor blocks until what was begun is on disk, and who waits for it is never
/// answered.
Result<std::unique_ptr<Store>> open_sqlite_store(std::string path, SqliteStoreOptions options,
                                                 asio::any_io_executor executor);

}  // namespace muster::store
