#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/internal/run/event_text.h"

namespace muster::cli {

struct ConsoleOptions {
    int descriptor = 1;
    bool color = false;
    bool live = false;      ///< a terminal: the progress line is rewritten in place
    bool quiet = false;     ///< of our own lines only problems
    bool raw = false;       ///< a terminal gets pods' lines as they are
    bool gathers = false;   ///< pods' lines are kept until flush(), or until there are many
    bool brackets = false;  ///< "[worker-0] " before a pod's lines, not "worker-0 | "
    bool hidden = false;    ///< only `copy` gets anything
    /// Gets all that is told and written, without colours and whether it is quiet or not.
    std::function<void(std::string_view lines)> copy = nullptr;
};

/// The output for people: our own lines, the pods' lines and one progress line below them. Nothing in
/// a text of others is obeyed by a terminal, except for the colours of pods' lines. If the reader
/// goes away, broken() becomes true and output is dropped. Thread: the loop; writes block.
class Console {
  public:
    explicit Console(ConsoleOptions options) : options_(std::move(options)) {}
    ~Console();

    Console(const Console&) = delete;
    Console& operator=(const Console&) = delete;

    /// "muster: pod x started". A text of several lines is indented from its second one on.
    void tell(const Told& told);
    void tell(const std::vector<Told>& all);
    /// Whole lines of a pod, each ending in '\n', already with their prefixes. A terminal gets
    /// their colours and no other control characters, unless they are to be raw.
    void write_block(std::string_view lines);
    /// Writes what is kept. All that is not a pod's does so, too: the order stays.
    void flush();
    /// The prefix of a pod's lines: "digits-worker-0 | ", in a colour of its own.
    std::string log_prefix(const std::string& pod);
    /// Replaces the progress line; on anything but a terminal, prints it as a line of its own.
    void progress(const std::string& told);
    void clear_progress();

    bool live() const { return options_.live; }
    bool gathers() const { return options_.gathers && !options_.live; }
    bool broken() const { return broken_; }

  private:
    void copy_block(std::string_view lines);
    void write_lines(std::string_view lines);
    void write_through(std::string_view bytes);

    ConsoleOptions options_;
    std::string progress_;
    std::string gathered_;
    std::vector<std::string> names_;
    bool broken_ = false;
};

/// Standard output, or standard error if the output is for programs.
ConsoleOptions console_for(bool to_stderr, bool quiet, bool no_color);

}  // namespace muster::cli
