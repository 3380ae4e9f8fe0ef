#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::store {

/// What failed on the file, why, and what to do about it. kInternal: the file is damaged.
/// kUnsupported: it belongs to another program or is of a newer version. kUnavailable: anything
/// else, which the machine or a person can fix.
Error file_error(std::string_view path, std::string_view what, std::string_view why,
                 std::string_view remedy, Code code = Code::kUnavailable);
Error damaged_file(std::string_view path, std::string_view what, std::string_view why);
/// The same from a system call.
Error file_system_error(std::string_view path, std::string_view what, int errno_value);

/// One connection of SQLite to the file. Thread: one at a time.
class Connection {
  public:
    /// `flags` are those of sqlite3_open_v2. `vfs`: SQLite's default if empty. Closing leaves the
    /// write-ahead log as it is, until checkpoint_on_close().
    static Result<std::unique_ptr<Connection>> open(std::string path, int flags,
                                                    const std::string& vfs);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    /// `what` describes the action for people: "writing changes".
    Result<void> execute(const char* sql, std::string_view what);
    /// The first column of the first row; 0 and "" if there is none.
    Result<std::int64_t> number(const char* sql, std::string_view what);
    Result<std::string> text(const char* sql, std::string_view what);

    void checkpoint_on_close();

    /// What SQLite and the system say about the call that has just failed.
    Error error(std::string_view what) const;
    /// Whether it failed because another program held the file's lock for too long.
    bool was_busy() const { return (sqlite3_errcode(db_) & 0xff) == SQLITE_BUSY; }
    const std::string& path() const { return path_; }
    sqlite3* handle() const { return db_; }

  private:
    explicit Connection(std::string path) : path_(std::move(path)) {}

    std::string path_;
    sqlite3* db_ = nullptr;
};

/// A prepared statement. Belongs to its connection, which outlives it.
class Statement {
  public:
    static Result<Statement> prepare(const Connection& connection, const char* sql,
                                     std::string_view what);
    Statement(Statement&& other) noexcept;
    Statement& operator=(Statement&&) = delete;
    ~Statement();

    /// The bound value must be valid until the statement was stepped. Parameters count from 1.
    void bind(int parameter, std::int64_t value);
    void bind_text(int parameter, std::string_view value);
    void bind_blob(int parameter, std::string_view value);

    /// True if there is a row, false at the end.
    Result<bool> step(std::string_view what);
    /// Runs it to completion, ready to be bound again.
    Result<void> run(std::string_view what);

    /// Columns count from 0. Their values are valid until the next step.
    std::int64_t number(int column) const;
    std::string_view bytes(int column) const;

  private:
    Statement(const Connection& connection, sqlite3_stmt* statement)
        : connection_(&connection), statement_(statement) {}

    const Connection* connection_;
    sqlite3_stmt* statement_;
};

}  // namespace muster::store
