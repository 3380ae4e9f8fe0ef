#include "store/internal/file/open_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "store/internal/file/file_reader.h"
#include "store/internal/file/schema.h"

namespace muster::store {

namespace {

constexpr int kOpenFlags = SQLITE_OPEN_READWRITE;

std::string log_of(const std::string& path) { return path + "-wal"; }

bool exists(const std::string& path) {
    struct stat found{};
    return lstat(path.c_str(), &found) == 0;
}

/// The name of a new file is durable only when its folder is on disk too.
Result<void> sync_folder_of(const std::string& path) {
    std::string folder = std::filesystem::path(path).parent_path().string();
    if (folder.empty()) folder = ".";
    const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return file_system_error(folder, "opening", errno);
    const int failed = fsync(fd) == 0 ? 0 : errno;
    close(fd);
    if (failed != 0) return file_system_error(folder, "writing", failed);
    return {};
}

/// Made under another name and then renamed, so that a file with its final name was once complete,
/// and an empty one was emptied by something.
Result<void> create_file(const std::string& path, const SqliteStoreOptions& options) {
    const std::string made = path + ".new";
    for (const char* rest : {"", "-wal", "-shm", "-journal"}) unlink((made + rest).c_str());
    // SQLite keeps the mode of an existing file; this one is private.
    const int fd = open(made.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return file_system_error(made, "making it", errno);
    close(fd);
    {
        TRY(std::unique_ptr<Connection> connection,
            Connection::open(made, kOpenFlags, options.vfs));
        TRY_VOID(bring_up_to_date(*connection, schema_steps()));
    }
    if (rename(made.c_str(), path.c_str()) != 0) return file_system_error(path, "making it", errno);
    return sync_folder_of(path);
}

Result<void> check_presence(const std::string& path, const SqliteStoreOptions& options) {
    struct stat found{};
    if (stat(path.c_str(), &found) == 0) {
        if (found.st_size == 0)
            return damaged_file(path, "opening", "it is empty, and it can't have been made so");
        return {};
    }
    if (errno != ENOENT) return file_system_error(path, "opening", errno);
    if (exists(log_of(path)))
        return damaged_file(path, "opening",
                            "it is not there, but its write-ahead log is: " + log_of(path));
    return create_file(path, options);
}

Result<std::unique_ptr<Connection>> connect(const std::string& path,
                                            const SqliteStoreOptions& options) {
    TRY(std::unique_ptr<Connection> connection, Connection::open(path, kOpenFlags, options.vfs));
    // FULL: a commit is on disk when it returns; OFF: only the kernel has it. Deleted data need not be overwritten. Rows are
    // appended and never read again, so there is little to be gained from pages in memory.
    const std::string settings = fmt::format(
        "PRAGMA synchronous = {}; PRAGMA secure_delete = OFF; PRAGMA wal_autocheckpoint = 0;"
        "PRAGMA cell_size_check = ON; PRAGMA cache_size = -512; PRAGMA journal_size_limit = {}",
        options.durable ? "FULL" : "OFF", options.log_limit_bytes);
    TRY_VOID(connection->execute(settings.c_str(), "opening"));
    return connection;
}

Result<void> check_writable(Connection& connection) {
    // SQLite opens a file that it may not write for reading only.
    if (sqlite3_db_readonly(connection.handle(), "main") != 0)
        return file_system_error(connection.path(), "opening", EACCES);
    constexpr const char* kTurnOn = "PRAGMA journal_mode = WAL";
    TRY(const std::string mode, connection.text(kTurnOn, "turning its write-ahead log on"));
    if (mode != "wal")
        return file_error(connection.path(), "turning its write-ahead log on",
                          fmt::format("its journal mode stays \"{}\"", mode),
                          "put it on a file system of this machine that can map shared memory");
    return {};
}

Result<OpenFile> read_file(const std::string& path, const SqliteStoreOptions& options) {
    TRY(std::unique_ptr<Connection> writer, connect(path, options));
    // Before anything is written, in case it belongs to another program.
    TRY_VOID(bring_up_to_date(*writer, schema_steps()));
    TRY_VOID(check_writable(*writer));
    TRY(std::unique_ptr<Connection> checkpointer, connect(path, options));
    TRY(std::vector<ChangeRow> rows,
        read_changes(*writer, *checkpointer, std::max(options.reading_threads, 1u)));
    auto content = replay(std::move(rows), options.history);
    if (!content) return damaged_file(path, "reading " + content.error().what, content.error().why);
    return OpenFile{std::move(writer), std::move(checkpointer), *std::move(content)};
}

/// The path of a copy of the file and its log, or why there is none. An existing copy stays: it is
/// from before anyone tried to repair anything.
std::string keep_copy(const std::string& path) {
    const std::string copy = path + ".damaged";
    if (exists(copy)) return "a copy from an earlier start lies in " + copy;
    for (const char* rest : {"", "-wal"}) {
        if (!exists(path + rest)) continue;
        std::error_code failed;
        std::filesystem::copy_file(path + rest, copy + rest, failed);
        if (failed) return fmt::format("no copy could be made ({}: {})", copy, failed.message());
    }
    return "a copy lies in " + copy;
}

}  // namespace

Result<OpenFile> open_file(const std::string& path, const SqliteStoreOptions& options) {
    TRY_VOID(check_presence(path, options));
    Result<OpenFile> opened = read_file(path, options);
    if (opened || opened.error().code() != Code::kInternal) return opened;
    return Error(Code::kInternal, fmt::format("{}; {}", opened.error().message(), keep_copy(path)));
}

}  // namespace muster::store
