#pragma once

#include <cstdint>
#include <optional>

#include "workers/shim/console_lines.h"
#include "workers/shim/line_filter.h"
#include "workers/shim/log_file.h"
#include "workers/shim/order.h"

namespace muster::workers {

/// One stream of a worker on its way: from a pipe to a file, to the console, to both or to nobody,
/// and some of its lines to a file of several workers. Nothing here waits. Owns its descriptors.
class Output {
  public:
    /// `own` is the shim's descriptor of the same stream: the console.
    Output(const OutputOrder& order, const ShimOrder& all, int own);
    ~Output();
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;

    /// Another order, before anything was opened for it.
    void take(const OutputOrder& order, const ShimOrder& all);
    /// What the worker writes to; -1 with errno when there is none. The worker's side is the
    /// caller's to close.
    int open();

    int pipe() const { return pipe_; }  ///< to poll for reading; -1: no more will come
    int console() const;                ///< to poll for writing; -1: nothing waits

    /// All that is there now; with `all`, until its end or until nothing is there.
    void read(bool all);
    void write_console();
    void close();

    std::uint64_t lost_bytes() const { return file_ ? file_->lost_bytes() : 0; }
    int first_error() const { return file_ ? file_->first_error() : 0; }
    /// Of the file; with none, nothing.
    const char* path() const { return file_ ? file_->path().c_str() : ""; }

  private:
    /// What is wanted of some lines, each written in one piece, as others write to the file too.
    struct Filtered {
        explicit Filtered(const OutputOrder& order)
            : lines(order.prefix, order.texts), file(order.filtered, 0, 1) {}
        LineFilter lines;
        LogFile file;  ///< never cut: a file that one renames is taken from the others
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
