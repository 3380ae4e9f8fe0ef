#include "net/internal/http/http_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <cstring>
#include <limits>
#include <optional>

#include "base/check.h"
#include "base/lower_case.h"

namespace muster::net {

namespace {

namespace http = boost::beast::http;
using boost::system::error_code;
using Text = boost::beast::string_view;

/// A body's initial memory; it grows with what really arrives.
constexpr std::size_t kFirstBody = std::size_t{64} * 1024;

std::string_view view(Text text) { return {text.data(), text.size()}; }

HttpRefusal refuse(unsigned status, std::string reason) {
    return {.status = status, .reason = std::move(reason)};
}

/// Finds the end of a head, line by line as it arrives, and refuses lines that programs read
/// differently.
class HeadScanner {
  public:
    /// The size of the head with its empty line, 0 while it is incomplete. `bytes` begins with the
    /// head and only grows.
    std::expected<std::size_t, HttpRefusal> scan(std::string_view bytes, std::size_t limit) {
        for (;;) {
            const void* found = std::memchr(bytes.data() + scanned_, '\n', bytes.size() - scanned_);
            if (found == nullptr) {
                scanned_ = bytes.size();
                if (bytes.size() >= limit) return std::unexpected(too_large(limit));
                return 0;
            }
            const auto end =
                static_cast<std::size_t>(static_cast<const char*>(found) - bytes.data());
            scanned_ = end + 1;
            if (scanned_ > limit) return std::unexpected(too_large(limit));
            if (end == line_at_ || bytes[end - 1] != '\r')
                return std::unexpected(refuse(400, "a line of the head does not end in CR LF"));
            const std::string_view line = bytes.substr(line_at_, end - 1 - line_at_);
            if (line.empty()) return scanned_;
            if (line.find('\r') != std::string_view::npos)
                return std::unexpected(refuse(400, "a CR in a line of the head"));
            if (line.find('\0') != std::string_view::npos)
                return std::unexpected(refuse(400, "a NUL in the head"));
            if (line.front() == ' ' || line.front() == '\t')
                return std::unexpected(refuse(400, "a folded line in the head"));
            line_at_ = scanned_;
        }
    }

  private:
    static HttpRefusal too_large(std::size_t limit) {
        return refuse(431, fmt::format("the head is larger than {} bytes", limit));
    }

    std::size_t line_at_ = 0;
    std::size_t scanned_ = 0;
};

HttpRefusal refusal_of(const error_code& error, const HttpMessageLimits& limits) {
    if (error == http::error::body_limit)
        return refuse(413, fmt::format("the body is larger than {} bytes", limits.body));
    return refuse(400, error.message());
}

/// Beast's parser, filling our message. Messages that Beast accepts and we do not are in `refused`.
/// It reads heads and bodies of known length; HttpChunks reads chunks, since Beast's reader of them
/// asserts that what follows the last one does not arrive byte by byte.
template <bool is_request, class Message>
class Filler final : public http::basic_parser<is_request> {
  public:
    Filler(Message& into, const HttpMessageLimits& limits, bool without_body) : into_(into) {
        this->header_limit(std::numeric_limits<std::uint32_t>::max());
        this->body_limit(limits.body);
        if (without_body) this->skip(true);
    }

    std::optional<HttpRefusal> refused;
    Message& message() { return into_; }

  private:
    void fail(error_code& error, std::string reason) {
        refused = refuse(400, std::move(reason));
        error = http::error::bad_value;
    }

    void on_request_impl(http::verb, Text method, Text target, int version, error_code&) override {
        if constexpr (is_request) {
            into_.method = view(method);
            into_.target = view(target);
            into_.minor_version = version - 10;
        }
        minor_version_ = version - 10;
    }

    void on_response_impl(int code, Text, int version, error_code&) override {
        if constexpr (!is_request) into_.status = static_cast<unsigned>(code);
        minor_version_ = version - 10;
    }

    void on_field_impl(http::field name, Text name_text, Text value, error_code& error) override {
        if (name == http::field::content_length) {
            const bool digits = !value.empty() && std::ranges::all_of(value, [](char letter) {
                return letter >= '0' && letter <= '9';
            });
            if (++lengths_ > 1) return fail(error, "several Content-Length fields");
            if (!digits) return fail(error, "Content-Length is not a number");
        } else if (name == http::field::transfer_encoding) {
            ++codings_;
            if (!equal_without_case(view(value), "chunked"))
                return fail(error, "a transfer coding other than chunked");
        } else if (name == http::field::host) {
            ++hosts_;
        }
        into_.headers.add(view(name_text), view(value));
    }

    void on_header_impl(error_code& error) override {
        if (lengths_ > 0 && codings_ > 0)
            return fail(error, "both Content-Length and Transfer-Encoding");
        if (codings_ > 1) return fail(error, "several transfer codings");
        if (codings_ > 0 && minor_version_ == 0)
            return fail(error, "HTTP/1.0 has no transfer codings");
        if (is_request && hosts_ != 1 && (minor_version_ > 0 || hosts_ > 1))
            return fail(error, "not exactly one Host field");
    }

    void on_body_init_impl(const boost::optional<std::uint64_t>& length, error_code&) override {
        if (length) into_.body.reserve(std::min<std::uint64_t>(*length, kFirstBody));
    }
    std::size_t on_body_impl(Text bytes, error_code&) override {
        into_.body.append(bytes.data(), bytes.size());
        return bytes.size();
    }
    void on_chunk_header_impl(std::uint64_t, Text, error_code&) override {}
    std::size_t on_chunk_body_impl(std::uint64_t, Text, error_code&) override { return 0; }
    void on_finish_impl(error_code&) override {}

    Message& into_;
    int minor_version_ = 1;
    int lengths_ = 0;
    int codings_ = 0;
    int hosts_ = 0;
};

/// One message after the other, of either kind.
template <bool is_request, class Message>
struct Reader {
    explicit Reader(HttpMessageLimits given) : limits(given) {}

    void begin(Message& into, bool without_body) {
        scanner = {};
        chunks = {};
        blank_lines = 0;
        filler.emplace(into, limits, without_body);
    }

    std::expected<std::size_t, HttpRefusal> put(std::string_view bytes) {
        CHECK(filler.has_value(), "begin() comes first");
        if (bytes.empty()) return 0;
        std::size_t used = 0;
        if (!filler->is_header_done()) {
            // A client may send an empty line after a body, but not many.
            while (bytes.substr(used).starts_with("\r\n")) {
                if (++blank_lines > 4) return std::unexpected(refuse(400, "empty lines"));
                used += 2;
            }
            if (used > 0) {
                scanner = {};
                return used;
            }
            const auto head = scanner.scan(bytes, limits.head);
            if (!head) return std::unexpected(head.error());
            if (*head == 0) return 0;
        }
        while (used < bytes.size() && !done()) {
            const std::string_view rest = bytes.substr(used);
            if (is_chunked()) {
                const auto size = chunks.put(rest, filler->message().body, limits.body);
                if (!size) return std::unexpected(size.error());
                return used + *size;
            }
            error_code error;
            used += filler->put(asio::buffer(rest.data(), rest.size()), error);
            // The head is complete: its first line is too short.
            if (error == http::error::need_more)
                return std::unexpected(refuse(400, "the first line is too short"));
            if (error) return std::unexpected(filler->refused.value_or(refusal_of(error, limits)));
        }
        return used;
    }

    bool is_chunked() const { return filler->is_header_done() && filler->chunked(); }
    bool done() const { return filler->is_done() || (is_chunked() && chunks.done()); }

    HttpMessageLimits limits;
    HeadScanner scanner;
    HttpChunks chunks;
    int blank_lines = 0;
    std::optional<Filler<is_request, Message>> filler;
};

}  // namespace

HttpParser::HttpParser() = default;
HttpParser::~HttpParser() = default;

struct HttpRequestParser::Impl : Reader<true, HttpRequest> {
    using Reader::Reader;
};

HttpRequestParser::HttpRequestParser(HttpMessageLimits limits)
    : impl_(std::make_unique<Impl>(limits)) {}
HttpRequestParser::~HttpRequestParser() = default;

void HttpRequestParser::begin(HttpRequest& into) {
    into.headers.clear();
    into.body.clear();
    impl_->begin(into, false);
}

std::expected<std::size_t, HttpRefusal> HttpRequestParser::put(std::string_view bytes) {
    return impl_->put(bytes);
}
bool HttpRequestParser::head_done() const { return impl_->filler->is_header_done(); }
bool HttpRequestParser::done() const { return impl_->done(); }
bool HttpRequestParser::keep_alive() const { return impl_->filler->keep_alive(); }

struct HttpResponseParser::Impl : Reader<false, HttpResponse> {
    using Reader::Reader;
};

HttpResponseParser::HttpResponseParser(HttpMessageLimits limits)
    : impl_(std::make_unique<Impl>(limits)) {}
HttpResponseParser::~HttpResponseParser() = default;

void HttpResponseParser::begin(HttpResponse& into, bool without_body) {
    into.headers.clear();
    into.body.clear();
    impl_->begin(into, without_body);
}

std::expected<std::size_t, HttpRefusal> HttpResponseParser::put(std::string_view bytes) {
    return impl_->put(bytes);
}

std::expected<void, HttpRefusal> HttpResponseParser::put_end() {
    if (!impl_->filler->is_header_done())
        return std::unexpected(refuse(400, "the connection ended within a head"));
    error_code error;
    if (!impl_->done()) impl_->filler->put_eof(error);
    if (error) return std::unexpected(refuse(400, "the connection ended within a body"));
    return {};
}
bool HttpResponseParser::head_done() const { return impl_->filler->is_header_done(); }
bool HttpResponseParser::done() const { return impl_->done(); }
bool HttpResponseParser::keep_alive() const { return impl_->filler->keep_alive(); }

}  // namespace muster::net
