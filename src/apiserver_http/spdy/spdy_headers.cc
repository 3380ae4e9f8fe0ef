#include "apiserver_http/spdy/spdy_headers.h"

#include <zlib.h>

#include <array>
#include <cstdint>

#include "base/check.h"

namespace muster::apiserver_http {

namespace {

// The dictionary with which both sides prime their streams (SPDY/3, section 2.6.10.1): names
// preceded by their lengths, as in a block, and then pieces of values.
constexpr const char* kDictionaryNames[] = {"options",
                                            "head",
                                            "post",
                                            "put",
                                            "delete",
                                            "trace",
                                            "accept",
                                            "accept-charset",
                                            "accept-encoding",
                                            "accept-language",
                                            "accept-ranges",
                                            "age",
                                            "allow",
                                            "authorization",
                                            "cache-control",
                                            "connection",
                                            "content-base",
                                            "content-encoding",
                                            "content-language",
                                            "content-length",
                                            "content-location",
                                            "content-md5",
                                            "content-range",
                                            "content-type",
                                            "date",
                                            "etag",
                                            "expect",
                                            "expires",
                                            "from",
                                            "host",
                                            "if-match",
                                            "if-modified-since",
                                            "if-none-match",
                                            "if-range",
                                            "if-unmodified-since",
                                            "last-modified",
                                            "location",
                                            "max-forwards",
                                            "pragma",
                                            "proxy-authenticate",
                                            "proxy-authorization",
                                            "range",
                                            "referer",
                                            "retry-after",
                                            "server",
                                            "te",
                                            "trailer",
                                            "transfer-encoding",
                                            "upgrade",
                                            "user-agent",
                                            "vary",
                                            "via",
                                            "warning",
                                            "www-authenticate",
                                            "method",
                                            "get",
                                            "status",
                                            "200 OK",
                                            "version",
                                            "HTTP/1.1",
                                            "url",
                                            "public",
                                            "set-cookie",
                                            "keep-alive",
                                            "origin"};
constexpr std::string_view kDictionaryValues =
    "1001012012022052063003023033043053063074024054064074084094104114124134144154164175025045"
    "05203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401"
    " Unauthorized403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented503 S"
    "ervice UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, We"
    "d, Thu, Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,application/xm"
    "l,application/xhtml+xml,text/plain,text/javascript,publicprivatemax-age=gzip,deflate,sdc"
    "hcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.";

void append_number(std::string& to, std::size_t number) {
    for (const int shift : {24, 16, 8, 0}) to += static_cast<char>(number >> shift & 0xff);
}

void append_text(std::string& to, std::string_view text) {
    append_number(to, text.size());
    to += text;
}

const std::string& dictionary() {
    static const std::string made = [] {
        std::string text;
        for (const char* name : kDictionaryNames) append_text(text, name);
        text += kDictionaryValues;
        return text;
    }();
    return made;
}

// zlib does not change its input, but older signatures say so.
Bytef* bytes_of(std::string_view text) {
    return reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
}

/// Reads the inside of a block; missing data read as nothing and are remembered.
class BlockReader {
  public:
    explicit BlockReader(std::string_view rest) : rest_(rest) {}

    std::uint32_t number() {
        const std::string_view raw = take(4);
        std::uint32_t value = 0;
        for (const char c : raw) value = value << 8 | static_cast<std::uint8_t>(c);
        return value;
    }
    std::string text() { return std::string(take(number())); }
    bool whole() const { return whole_; }
    bool empty() const { return rest_.empty(); }

  private:
    std::string_view take(std::size_t size) {
        if (size > rest_.size()) {
            whole_ = false;
            rest_ = {};
            return {};
        }
        const std::string_view taken = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return taken;
    }

    std::string_view rest_;
    bool whole_ = true;
};

}  // namespace

struct SpdyHeaderReader::Stream {
    Stream() { CHECK(::inflateInit(&z) == Z_OK, "zlib can't be set up"); }
    ~Stream() { ::inflateEnd(&z); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    std::expected<std::string, std::string> inflate(std::string_view block) {
        z.next_in = bytes_of(block);
        z.avail_in = static_cast<uInt>(block.size());
        std::string text;
        std::array<char, 4096> buffer;
        for (;;) {
            z.next_out = reinterpret_cast<Bytef*>(buffer.data());
            z.avail_out = static_cast<uInt>(buffer.size());
            const int result = ::inflate(&z, Z_SYNC_FLUSH);
            if (result == Z_NEED_DICT) {
                const std::string& words = dictionary();
                if (::inflateSetDictionary(&z, bytes_of(words), static_cast<uInt>(words.size())) !=
                    Z_OK)
                    return std::unexpected("headers that need another dictionary");
                continue;
            }
            text.append(buffer.data(), buffer.size() - z.avail_out);
            if (text.size() > kMaxHeaders) return std::unexpected("too many headers");
            // Everything was taken, and there is room left: no more output will come.
            if (result == Z_BUF_ERROR || (result == Z_OK && z.avail_out > 0 && z.avail_in == 0))
                return text;
            if (result != Z_OK) return std::unexpected("headers that are not well compressed");
        }
    }

    z_stream z{};
};

SpdyHeaderReader::SpdyHeaderReader() : stream_(std::make_unique<Stream>()) {}
SpdyHeaderReader::~SpdyHeaderReader() = default;
SpdyHeaderReader::SpdyHeaderReader(SpdyHeaderReader&&) noexcept = default;
SpdyHeaderReader& SpdyHeaderReader::operator=(SpdyHeaderReader&&) noexcept = default;

std::expected<SpdyHeaders, std::string> SpdyHeaderReader::read(std::string_view block) {
    const auto text = stream_->inflate(block);
    if (!text) return std::unexpected(text.error());
    BlockReader in(*text);
    SpdyHeaders headers;
    for (std::uint32_t left = in.number(); left > 0 && in.whole(); --left) {
        std::string name = in.text();
        headers.emplace_back(std::move(name), in.text());
    }
    if (!in.whole() || !in.empty()) return std::unexpected("headers that are cut short");
    return headers;
}

struct SpdyHeaderWriter::Stream {
    Stream() {
        const std::string& words = dictionary();
        CHECK(::deflateInit(&z, Z_DEFAULT_COMPRESSION) == Z_OK, "zlib can't be set up");
        CHECK(::deflateSetDictionary(&z, bytes_of(words), static_cast<uInt>(words.size())) == Z_OK,
              "zlib can't take a dictionary");
    }
    ~Stream() { ::deflateEnd(&z); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    z_stream z{};
};

SpdyHeaderWriter::SpdyHeaderWriter() : stream_(std::make_unique<Stream>()) {}
SpdyHeaderWriter::~SpdyHeaderWriter() = default;
SpdyHeaderWriter::SpdyHeaderWriter(SpdyHeaderWriter&&) noexcept = default;
SpdyHeaderWriter& SpdyHeaderWriter::operator=(SpdyHeaderWriter&&) noexcept = default;

std::string SpdyHeaderWriter::write(const SpdyHeaders& headers) {
    std::string text;
    append_number(text, headers.size());
    for (const auto& [name, value] : headers) {
        append_text(text, name);
        append_text(text, value);
    }
    z_stream& z = stream_->z;
    z.next_in = bytes_of(text);
    z.avail_in = static_cast<uInt>(text.size());
    std::string block;
    std::array<char, 4096> buffer;
    do {
        z.next_out = reinterpret_cast<Bytef*>(buffer.data());
        z.avail_out = static_cast<uInt>(buffer.size());
        ::deflate(&z, Z_SYNC_FLUSH);
        block.append(buffer.data(), buffer.size() - z.avail_out);
    } while (z.avail_out == 0);
    return block;
}

}  // namespace muster::apiserver_http
