#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "workers/shim/line_cutter.h"

namespace muster::workers {

/// Turns a worker's output into whole lines with a prefix, and holds those that the console has not
/// accepted yet. A line is no longer than what the kernel writes to a pipe atomically, so that
/// lines of several workers never mix; a longer one is split, and each part gets the prefix. If the
/// console is not read fast enough, excess lines are counted and dropped: the worker never waits
/// for it.
class ConsoleLines {
  public:
    static constexpr std::size_t kPiece = 4096;
    static constexpr std::size_t kMost = std::size_t{256} * 1024;

    explicit ConsoleLines(std::string prefix)
        : prefix_(std::move(prefix)), lines_(kPiece - this->prefix().size() - 1) {}

    void add(std::string_view bytes);
    /// No more input will come: ends an unfinished line.
    void finish();

    /// What to write next in one call: a whole line, or "" if there is none.
    std::string_view next() const;
    /// That many bytes of it were written.
    void written(std::size_t bytes) { at_ += bytes; }
    /// The console is gone: drops what waits.
    void give_up() { waiting_.clear(), at_ = 0; }

  private:
    void line(std::string_view text);
    void tell_left_out();
    /// Cut, so that there is room for the line.
    std::string_view prefix() const { return std::string_view(prefix_).substr(0, kPiece / 2); }

    std::string prefix_;
    LineCutter lines_;
    std::string waiting_;  ///< whole lines; not yet written from at_ on
    std::size_t at_ = 0;
    std::uint64_t left_out_ = 0;  ///< lines dropped since the last one that was kept
};

}  // namespace muster::workers
