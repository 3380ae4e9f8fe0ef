#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver_http/spdy/spdy_headers.h"

namespace muster::apiserver_http {

/// A frame of SPDY/3.1, as far as forwarded ports need it.
struct SpdyFrame {
    enum class Kind : std::uint8_t {
        kOpen,     ///< SYN_STREAM: stream, headers, last
        kReset,    ///< RST_STREAM: stream
        kPing,     ///< number
        kGoAway,   ///< the other side opens no more streams
        kHeaders,  ///< stream, headers, last
        kData,     ///< stream, data, last
        kOther,    ///< SETTINGS, WINDOW_UPDATE, SYN_REPLY: ignored
    };

    Kind kind = Kind::kOther;
    std::uint32_t stream = 0;
    std::uint32_t number = 0;
    bool last = false;  ///< the other side sends no more on this stream (FIN)
    SpdyHeaders headers;
    std::string data;
};

/// Turns bytes into frames and checks them. Nothing follows an error, which says what the other
/// side did wrong.
class SpdyDecoder {
  public:
    void put(std::string_view bytes) { pending_.append(bytes); }
    /// nullopt if more bytes are needed.
    std::expected<std::optional<SpdyFrame>, std::string> next();

    static constexpr std::size_t kMaxData = std::size_t{4} * 1024 * 1024;
    static constexpr std::size_t kMaxControl = std::size_t{64} * 1024;

  private:
    std::expected<SpdyFrame, std::string> control(std::uint32_t head, std::uint8_t flags,
                                                  std::string_view body);

    std::string pending_;
    std::size_t at_ = 0;  // everything before it was taken
    SpdyHeaderReader headers_;
};

/// Encodes frames of one side. Those with headers must be sent in the order in which they were
/// made: their headers are one compressed stream.
class SpdyEncoder {
  public:
    /// By a client, whose streams have odd and increasing numbers.
    std::string open(std::uint32_t stream, const SpdyHeaders& headers, bool last);
    std::string reply(std::uint32_t stream);
    static std::string data(std::uint32_t stream, std::string_view bytes, bool last);
    /// `status`: 1 a protocol error, 3 refused.
    static std::string reset(std::uint32_t stream, std::uint32_t status);
    static std::string ping(std::uint32_t number);

  private:
    SpdyHeaderWriter headers_;
};

}  // namespace muster::apiserver_http
