#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace muster::workers {

/// Puts a prefix before each line of a worker's output, and holds what the console has not accepted
/// yet. A line ends with '\n' or, for progress bars, with '\r'; an unfinished line is held, unless
/// it follows a '\r': then it is shown at once, and again when there is more of it. No line is cut:
/// one that is longer than kLongest comes in parts, and only the first has the prefix.
///
/// Nothing is dropped. Whoever adds asks full() first, and then waits or keeps the bytes elsewhere.
class ConsoleLines {
  public:
    /// What the kernel writes to a pipe in one piece.
    static constexpr std::size_t kPiece = 4096;
    static constexpr std::size_t kMost = std::size_t{256} * 1024;
    static constexpr std::size_t kLongest = std::size_t{1} << 20;

    explicit ConsoleLines(std::string prefix) : prefix_(std::move(prefix)) {}

    void add(std::string_view bytes);
    /// No more input will come: ends an unfinished line.
    void finish();

    /// Whether enough waits for the console.
    bool full() const { return waiting() >= kMost; }
    /// Bytes that wait for the console.
    std::size_t waiting() const { return waiting_.size() - at_; }
    /// What to write next in one call: whole lines of at most kPiece, or one longer line, or what is
    /// left of it; "" if there is none.
    std::string_view next() const;
    /// That many bytes of it were written.
    void written(std::size_t bytes);
    /// Whether a line was written in part, and more of it waits.
    bool mid_line() const { return mid_line_ && waiting() > 0; }
    /// The console is gone: drops what waits.
    void give_up();

  private:
    void end_line(char end);
    void show_progress();
    void append(std::string_view text);

    std::string prefix_;
    std::string unfinished_;
    bool progress_ = false;  ///< unfinished_ follows a '\r'
    std::size_t shown_ = 0;  ///< bytes of unfinished_ that were shown as progress
    bool begun_ = false;     ///< an earlier part of this line is out, or waits
    std::string waiting_;    ///< not yet written from at_ on
    std::size_t at_ = 0;
    bool mid_line_ = false;
};

}  // namespace muster::workers
