#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster::pod_init {

enum class LogStream : std::uint8_t { kStdout, kStderr };

/// Turns a container's output into the lines of a CRI log file: `<RFC 3339 time> stdout|stderr F|P
/// <text>`, with P for a piece of a line that continues. A line is cut into pieces of 16 KiB, so
/// that no line, however long, needs more memory than that.
class CriEncoder {
  public:
    static constexpr std::size_t kPiece = 16 * 1024;

    /// Appends the lines that `bytes` completes to `out`; the rest waits.
    void feed(LogStream stream, std::string_view bytes, std::string_view stamp, std::string& out);
    /// Writes the rest without a newline as a last piece.
    void finish(std::string_view stamp, std::string& out);

  private:
    std::array<std::string, 2> waiting_;
};

struct CriLine {
    std::string_view stamp;
    LogStream stream = LogStream::kStdout;
    bool full = true;
    std::string_view text;

    friend bool operator==(const CriLine&, const CriLine&) = default;
};

/// One line of the file without its newline; nullopt when it is not one.
std::optional<CriLine> parse_cri_line(std::string_view line);

/// The name of the k-th file of a log: the newest is `name` itself, `name.1` the one before.
std::string log_file_name(const std::string& name, std::uint32_t age);

}  // namespace muster::pod_init
