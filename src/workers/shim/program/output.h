#pragma once

#include <cstdint>
#include <optional>

#include "workers/shim/console_lines.h"
#include "workers/shim/line_filter.h"
#include "workers/shim/log_file.h"
#include "workers/shim/order.h"

namespace muster::workers {

/// Carries one stream of a worker: from a pipe to a file, to the console, to both or nowhere, and
/// some of its lines to a file that several workers share. Never blocks. Owns its descriptors.
///
/// A console that is slower than the worker gets the rest from the file, so that the worker does not
/// wait for it. Without a file that holds everything (none, or a rotated one) the worker waits: its
/// pipe is not read.
class Output {
  public:
    /// `own` is the shim's descriptor for the same stream: the console.
    Output(const OutputOrder& order, const ShimOrder& all, int own);
    ~Output();
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;

    /// Replaces the order. Only before open().
    void take(const OutputOrder& order, const ShimOrder& all);
    /// The descriptor that the worker writes to; -1 with errno on failure. The caller closes it.
    int open();

    /// Poll for reading; -1: no more output will come, or it has to wait for the console.
    int pipe() const { return must_wait() ? -1 : pipe_; }
    /// Poll for writing; -1: nothing is waiting, or another process is in the middle of a line.
    int console() const { return is_behind() && !blocked_ ? console_ : -1; }
    /// Another process is in the middle of a line, or has its turn: call write_console() again soon.
    bool is_blocked() const { return is_behind() && blocked_; }
    /// The console has not accepted all of it yet.
    bool is_behind() const;

    /// Reads what is there now. With `all`: all that a worker that has ended left in the pipe,
    /// whether or not the console keeps up.
    void read(bool all);
    void write_console();
    /// No more output will come.
    void finish();
    void close();

    /// Bytes that the console has accepted.
    std::uint64_t shown_bytes() const { return shown_; }
    /// Bytes that the console has not accepted so far, if nothing more is written.
    std::uint64_t unshown_bytes() const;
    /// The errno for which the console is not written to any more; 0 if it is.
    int console_error() const { return console_error_; }
    std::uint64_t lost_bytes() const { return file_ ? file_->lost_bytes() : 0; }
    int first_error() const { return file_ ? file_->first_error() : 0; }
    /// The file's path; "" without a file.
    const char* path() const { return file_ ? file_->path().c_str() : ""; }

  private:
    /// Selected lines, each written in one call because other workers write to the file too.
    struct Filtered {
        explicit Filtered(const OutputOrder& order)
            : lines(order.prefix, order.texts), file(order.filtered, 0, 1) {}
        LineFilter lines;
        LogFile file;  ///< never rotated: a rename would take the file from the other workers
    };

    void open_console();
    bool must_wait() const;
    void distribute(std::string_view bytes);
    void read_back();
    bool lock_console();
    void unlock_console();
    void lose_console(int error);

    OutputOrder order_;
    bool rotated_ = false;
    int own_;
    int pipe_ = -1;
    bool ended_ = false;     ///< the pipe was closed
    bool finished_ = false;  ///< and lines_ knows it
    int console_ = -1;
    bool has_own_console_ = false;  ///< console_ was opened here, and its lock is ours alone
    bool locked_ = false;
    bool blocked_ = false;
    int console_error_ = 0;
    std::uint64_t shown_ = 0;
    std::uint64_t unshown_ = 0;  ///< never to be shown
    std::optional<LogFile> file_;
    int reader_ = -1;  ///< of the file; -1: it can't be read back
    /// Where in the file that begins which the console gets next; nullopt: it keeps up.
    std::optional<std::uint64_t> read_from_;
    std::optional<ConsoleLines> lines_;
    std::optional<Filtered> filtered_;
};

}  // namespace muster::workers
