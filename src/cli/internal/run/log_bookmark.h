#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time/clock.h"

namespace muster::cli {

/// Where a reader is in the log of a container, by the stamps that a server puts before the lines
/// ("2026-01-02T03:04:05.678Z text"). Takes a stream with stamps apart, and when the log is read
/// again after a break, drops what was read already.
///
/// A server is asked for lines by whole seconds. It sends those of the last two seconds again, in
/// the same order, since a log only grows; so it is enough to know how many they were. If the node
/// has replaced the file in between, fewer come again: a line with a later stamp is new in any case.
/// Memory: the stamp of one line. Pure.
class LogBookmark {
  public:
    /// A new connection begins. Returns from when on its lines are wanted, as a server reads it;
    /// empty: all.
    std::string resume();
    /// The next bytes of the connection. Returns the text that is new, without stamps.
    std::string add(std::string_view bytes);

  private:
    static constexpr std::size_t kLongestStamp = 64;

    void begin_line(std::string& text, bool blank);
    void end_line();
    std::string_view unread(std::string_view part);

    // --- of the connection
    std::string stamp_;             ///< as far as it has come
    bool in_text_ = false;          ///< behind the stamp of a line
    bool stamped_ = false;          ///< this line has one
    bool known_ = false;            ///< all of this line was read before
    std::uint64_t line_bytes_ = 0;  ///< of this line that have come
    std::uint64_t hidden_ = 0;      ///< bytes of this line that were read before
    std::uint64_t again_ = 0;       ///< complete lines that come again
    WallTime line_at_{};
    WallTime since_{};  ///< a server may send lines that are older than was asked for

    // --- of the log: its complete lines, and the one that has no end yet
    WallTime newest_{};
    std::int64_t second_ = 0;  ///< the latest in which lines were written
    std::uint64_t in_second_ = 0;
    std::uint64_t in_one_before_ = 0;
    bool open_ = false;
    WallTime open_at_{};
    std::uint64_t open_bytes_ = 0;
};

}  // namespace muster::cli
