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

    int pipe() const { return pipe_; }  ///< poll for reading; -1: no more output will come
    int console() const;                ///< poll for writing; -1: nothing is waiting

    /// Reads what is there now; with `all`, until the end of the stream or until there is no more.
    void read(bool all);
    void write_console();
    void close();

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

    void finish();

    OutputOrder order_;
    int own_;
    int pipe_ = -1;
    int console_ = -1;
    std::optional<LogFile> file_;
    std::optional<ConsoleLines> lines_;
    std::optional<Filtered> filtered_;
};

}  // namespace muster::workers
