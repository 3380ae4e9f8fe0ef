#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace muster::workers {

/// Makes whole lines with a prefix of what a worker writes, and holds those that the console has
/// not taken. A line is no longer than what the kernel writes to a pipe in one piece, so that the
/// lines of several workers never mix: a longer one comes in several, each with its prefix. When
/// nobody reads the console, what is too much is counted and not kept: the worker never waits for
/// it.
class ConsoleLines {
  public:
    static constexpr std::size_t kPiece = 4096;
    static constexpr std::size_t kMost = std::size_t{256} * 1024;

    explicit ConsoleLines(std::string prefix) : prefix_(std::move(prefix)) {}

    void add(std::string_view bytes);
    /// No more will come: an unfinished line is finished.
    void finish();

    /// What to write next in one call: a whole line; "" when there is none.
    std::string_view next() const;
    /// So much of it was written.
    void written(std::size_t bytes) { at_ += bytes; }
    /// The console is gone.
    void give_up() { waiting_.clear(), at_ = 0; }

  private:
    void line(std::string_view text);
    void tell_left_out();
    /// A prefix that leaves no room for the line is cut.
    std::string_view prefix() const { return std::string_view(prefix_).substr(0, kPiece / 2); }

    std::string prefix_;
    std::string unfinished_;
    std::string waiting_;  ///< whole lines; from at_ on still to be written
    std::size_t at_ = 0;
    std::uint64_t left_out_ = 0;  ///< lines, since the last that was kept
};

}  // namespace muster::workers
