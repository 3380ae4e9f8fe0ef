#include "store/internal/file/sqlite.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace muster::store {

namespace {

constexpr std::string_view kDamagedRemedy =
    "nothing was repaired; put back a copy of the file, or move it away to begin with an empty "
    "store";
constexpr std::string_view kFullRemedy = "free some space there, then start again";
constexpr std::string_view kNotWritableRemedy =
    "let this user write the file and its folder, on a file system that is not mounted read-only";

struct Reason {
    Code code;
    std::string_view remedy;
};

Reason reason_of(int primary) {
    switch (primary) {
        case SQLITE_CORRUPT:
            return {Code::kInternal, kDamagedRemedy};
        case SQLITE_NOTADB:
            return {Code::kInternal,
                    "name another path if another program wrote it; otherwise its beginning is "
                    "damaged: put back a copy, or move it away to begin with an empty store"};
        case SQLITE_FULL:
            return {Code::kUnavailable, kFullRemedy};
        case SQLITE_READONLY:
        case SQLITE_PERM:
        case SQLITE_AUTH:
            return {Code::kUnavailable, kNotWritableRemedy};
        case SQLITE_CANTOPEN:
            return {Code::kUnavailable,
                    "check that the folder exists and that this user may use it"};
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return {Code::kUnavailable, "close the other program that has the file open"};
        case SQLITE_IOERR:
            return {Code::kUnavailable,
                    "check the disk and the kernel's messages about it, then start again"};
        default:
            return {Code::kUnavailable, "start again; if it stays, report it with this message"};
    }
}

}  // namespace

Error file_error(std::string_view path, std::string_view what, std::string_view why,
                 std::string_view remedy, Code code) {
    return Error(code, fmt::format("{}: {}: {}: {}", path, what, why, remedy));
}

Error damaged_file(std::string_view path, std::string_view what, std::string_view why) {
    return file_error(path, what, why, kDamagedRemedy, Code::kInternal);
}

Error file_system_error(std::string_view path, std::string_view what, int errno_value) {
    std::string_view remedy = "check the file and its folder";
    if (errno_value == ENOSPC || errno_value == EDQUOT) remedy = kFullRemedy;
    if (errno_value == EACCES || errno_value == EPERM || errno_value == EROFS)
        remedy = kNotWritableRemedy;
    return file_error(path, what, std::generic_category().message(errno_value), remedy);
}

Result<std::unique_ptr<Connection>> Connection::open(std::string path, int flags,
                                                     const std::string& vfs) {
    std::unique_ptr<Connection> made(new Connection(std::move(path)));
    // We serialise access, so SQLite needs no mutex of its own.
    const int code = sqlite3_open_v2(made->path_.c_str(), &made->db_,
                                     flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
                                     vfs.empty() ? nullptr : vfs.c_str());
    if (made->db_ == nullptr) return Error(Code::kUnavailable, "SQLite got no memory to begin");
    if (code != SQLITE_OK) return made->error("opening");
    // A file that turns out to be damaged stays as it was found.
    sqlite3_db_config(made->db_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    constexpr int kPatienceMs = 500;  // with a person's sqlite3 that looks into the file
    sqlite3_busy_timeout(made->db_, kPatienceMs);
    return made;
}

Connection::~Connection() { sqlite3_close_v2(db_); }

void Connection::checkpoint_on_close() {
    sqlite3_db_config(db_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
}

Error Connection::error(std::string_view what) const {
    const int extended = sqlite3_extended_errcode(db_);
    std::string why = sqlite3_errmsg(db_);
    const int primary = extended & 0xff;
    if (primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN)
        if (const int system = sqlite3_system_errno(db_); system != 0)
            why += ", " + std::generic_category().message(system);
    if (extended != primary) why += fmt::format(" (SQLite's code {})", extended);
    const Reason reason = reason_of(primary);
    return file_error(path_, what, why, reason.remedy, reason.code);
}

Result<void> Connection::execute(const char* sql, std::string_view what) {
    if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) return error(what);
    return {};
}

Result<std::int64_t> Connection::number(const char* sql, std::string_view what) {
    TRY(Statement statement, Statement::prepare(*this, sql, what));
    TRY(const bool found, statement.step(what));
    return found ? statement.number(0) : 0;
}

Result<std::string> Connection::text(const char* sql, std::string_view what) {
    TRY(Statement statement, Statement::prepare(*this, sql, what));
    TRY(const bool found, statement.step(what));
    return found ? std::string(statement.bytes(0)) : std::string();
}

Result<Statement> Statement::prepare(const Connection& connection, const char* sql,
                                     std::string_view what) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v3(connection.handle(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement,
                           nullptr) != SQLITE_OK)
        return connection.error(what);
    return Statement(connection, statement);
}

Statement::Statement(Statement&& other) noexcept
    : connection_(other.connection_), statement_(std::exchange(other.statement_, nullptr)) {}

Statement::~Statement() { sqlite3_finalize(statement_); }

// Binding fails only for a parameter that does not exist or if memory runs out; then the step fails
// because a value is missing (the columns are NOT NULL).
void Statement::bind(int parameter, std::int64_t value) {
    sqlite3_bind_int64(statement_, parameter, value);
}
void Statement::bind_text(int parameter, std::string_view value) {
    sqlite3_bind_text(statement_, parameter, value.data(), static_cast<int>(value.size()),
                      SQLITE_STATIC);
}
void Statement::bind_blob(int parameter, std::string_view value) {
    sqlite3_bind_blob(statement_, parameter, value.data(), static_cast<int>(value.size()),
                      SQLITE_STATIC);
}

Result<bool> Statement::step(std::string_view what) {
    switch (sqlite3_step(statement_)) {
        case SQLITE_ROW:
            return true;
        case SQLITE_DONE:
            return false;
        default:
            return connection_->error(what);
    }
}

Result<void> Statement::run(std::string_view what) {
    bool more = true;
    while (more) {
        Result<bool> stepped = step(what);
        if (!stepped) {
            sqlite3_reset(statement_);
            return std::move(stepped.error());
        }
        more = *stepped;
    }
    sqlite3_reset(statement_);
    return {};
}

std::int64_t Statement::number(int column) const {
    return sqlite3_column_int64(statement_, column);
}

std::string_view Statement::bytes(int column) const {
    const void* data = sqlite3_column_blob(statement_, column);
    if (data == nullptr) return {};
    return {static_cast<const char*>(data),
            static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

}  // namespace muster::store
