#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>

namespace muster::net {

/// Why a message is refused; for a request, with the status to answer.
struct HttpRefusal {
    unsigned status = 400;
    std::string reason;
};

/// Decodes a chunked body. Extensions and the trailer are checked and dropped: a trailer could give
/// a length that a reader behind us believes.
class HttpChunks {
  public:
    /// How many of `bytes` were used; their content is appended to `body`. The caller passes the
    /// rest again, with more bytes after it.
    std::expected<std::size_t, HttpRefusal> put(std::string_view bytes, std::string& body,
                                                std::size_t body_limit);
    bool done() const { return state_ == State::kDone; }

  private:
    enum class State { kSize, kData, kDataEnd, kTrailer, kDone };

    std::expected<void, HttpRefusal> size_line(std::string_view line, std::size_t body_limit);
    std::expected<void, HttpRefusal> trailer_line(std::string_view line);

    State state_ = State::kSize;
    std::size_t left_ = 0;   // of this chunk
    std::size_t total_ = 0;  // of the body
    std::size_t trailer_ = 0;
};

}  // namespace muster::net
