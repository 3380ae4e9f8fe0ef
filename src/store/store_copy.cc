#include "store/store_copy.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <cerrno>

#include "base/async/run_to_end.h"
#include "base/unique_fd.h"
#include "store/internal/file/sqlite.h"
#include "store/sqlite_store.h"

namespace muster::store {

namespace {

constexpr std::string_view kCopying = "copying it";
/// A checkpoint may hold the file for a moment.
constexpr int kCopyPatienceMs = 10'000;

Result<void> copy_pages(const Connection& from, const Connection& to) {
    sqlite3_backup* const copy = sqlite3_backup_init(to.handle(), "main", from.handle(), "main");
    if (copy == nullptr) return to.error(kCopying);
    // In one step, so that no write of the other process makes it begin again.
    const int stepped = sqlite3_backup_step(copy, -1);
    const int finished = sqlite3_backup_finish(copy);
    if (stepped == SQLITE_DONE && finished == SQLITE_OK) return {};
    return file_error(from.path(), kCopying, sqlite3_errstr(stepped),
                      "check the disk that it is copied to");
}

Result<void> copy_to(const std::string& from, const std::string& to) {
    TRY(const auto source, Connection::open(from, SQLITE_OPEN_READWRITE, ""));
    sqlite3_busy_timeout(source->handle(), kCopyPatienceMs);
    TRY(const auto copy, Connection::open(to, SQLITE_OPEN_READWRITE, ""));
    TRY_VOID(copy_pages(*source, *copy));
    // One file, without a log beside it.
    TRY_VOID(copy->execute("PRAGMA journal_mode = DELETE", kCopying));
    TRY(const std::string sound, copy->text("PRAGMA quick_check(1)", kCopying));
    if (sound != "ok") return damaged_file(from, kCopying, sound);
    return {};
}

Task<void> stop_store(Store& store) { co_await store.stop(); }

}  // namespace

Result<void> copy_store(const std::string& from, const std::string& to) {
    UniqueFd made(::open(to.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!made && errno == EEXIST)
        return Error(Code::kAlreadyExists, fmt::format("{} exists already", to));
    if (!made) return file_system_error(to, "making it", errno);
    Result<void> done = copy_to(from, to);
    if (done && ::fsync(made.get()) != 0) done = file_system_error(to, "writing it", errno);
    if (!done) ::unlink(to.c_str());
    return done;
}

Result<void> check_store(const std::string& path) {
    {
        TRY(const auto file, Connection::open(path, SQLITE_OPEN_READONLY, ""));
        TRY(const std::string sound, file->text("PRAGMA integrity_check(1)", "checking it"));
        if (sound != "ok") return damaged_file(path, "checking it", sound);
    }
    asio::io_context context(1);
    TRY(const auto store, open_sqlite_store(path, {}, context.get_executor()));
    run_to_end(context, stop_store(*store));
    return {};
}

}  // namespace muster::store
