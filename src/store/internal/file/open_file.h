#pragma once

#include <memory>
#include <string>
#include <vector>

#include "store/internal/file/change_row.h"
#include "store/internal/file/replay.h"
#include "store/internal/file/sqlite.h"
#include "store/sqlite_store.h"

namespace muster::store {

/// A file that was found intact, and its content.
struct OpenFile {
    std::unique_ptr<Connection> writer;
    std::unique_ptr<Connection> checkpointer;
    Replayed content;
};

/// Opens the file, creating it if it is missing, and reads and checks all of it. If it is damaged,
/// makes a copy and says where. The caller holds the FileLock.
Result<OpenFile> open_file(const std::string& path, const SqliteStoreOptions& options);

}  // namespace muster::store
