#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/time/clock.h"

namespace muster::cli {

/// Merges the lines of several logs by their time stamps. A line is held until no earlier one can
/// come: until every other open log has shown a later line, or until the line has waited for
/// `patience`, since a log may be silent for long. Pure: time is a parameter. Lines of one log stay
/// in order, whatever their stamps.
class LogMerge {
  public:
    /// A log takes no more lines than this until some were taken out: its reader waits.
    static constexpr std::size_t kHeld = 1000;

    struct Line {
        std::size_t source;
        std::string stamp;  ///< as the server wrote it
        std::string text;
    };

    /// Without patience: as long as it takes.
    explicit LogMerge(std::optional<Duration> patience) : patience_(patience) {}

    /// Opens a log that may have lines; returns its number.
    std::size_t open();
    /// Adds a line of the log as a server stamps it: "2026-01-02T03:04:05.678Z text". A line
    /// without a stamp belongs to the one before it.
    void add(std::size_t source, std::string_view stamped, Instant now);
    /// No more lines of it will come.
    void end(std::size_t source);

    bool wants(std::size_t source) const { return sources_[source].lines.size() < kHeld; }
    /// The lines that are due, in order.
    std::vector<Line> take(Instant now);
    /// When the next line is due even if nothing happens; nullopt: never.
    std::optional<Instant> wake_at() const;
    /// Whether nothing is held, and nothing more will come.
    bool finished() const;

  private:
    struct Held {
        WallTime at;
        Instant arrived;
        std::string stamp;
        std::string text;
    };
    struct Source {
        std::deque<Held> lines;
        WallTime last{};
        bool ended = false;
    };

    /// The log of the earliest line; nothing if no line is held.
    std::optional<std::size_t> first() const;
    bool all_have_spoken() const;

    std::optional<Duration> patience_;
    std::vector<Source> sources_;
};

}  // namespace muster::cli
