#pragma once

#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::apiserver_http {

using SpdyHeaders = std::vector<std::pair<std::string, std::string>>;

/// The header blocks of one direction of a SPDY/3 connection: one zlib stream through all of them,
/// primed with the specification's dictionary. So every block must be read, in order.
class SpdyHeaderReader {
  public:
    SpdyHeaderReader();
    ~SpdyHeaderReader();
    SpdyHeaderReader(SpdyHeaderReader&&) noexcept;
    SpdyHeaderReader& operator=(SpdyHeaderReader&&) noexcept;

    /// The headers, or what is wrong with the block; nothing can be read after that. A block that
    /// would grow beyond kMaxHeaders is refused before it does.
    std::expected<SpdyHeaders, std::string> read(std::string_view block);

    static constexpr std::size_t kMaxHeaders = std::size_t{64} * 1024;

  private:
    struct Stream;
    std::unique_ptr<Stream> stream_;
};

class SpdyHeaderWriter {
  public:
    SpdyHeaderWriter();
    ~SpdyHeaderWriter();
    SpdyHeaderWriter(SpdyHeaderWriter&&) noexcept;
    SpdyHeaderWriter& operator=(SpdyHeaderWriter&&) noexcept;

    std::string write(const SpdyHeaders& headers);

  private:
    struct Stream;
    std::unique_ptr<Stream> stream_;
};

}  // namespace muster::apiserver_http
