#pragma once

#include <cstddef>
#include <expected>
#include <memory>
#include <string>
#include <string_view>

#include "net/http/http.h"
#include "net/internal/http/http_chunks.h"

namespace muster::net {

struct HttpMessageLimits {
    std::size_t head = std::size_t{64} * 1024;
    std::size_t body = std::size_t{3} * 1024 * 1024;
};

/// Parses one message after the other. Refuses everything that two readers could understand
/// differently: several or odd lengths, lines that do not end in CR LF, folded lines.
///
/// The caller keeps the bytes that were not used and passes them again, with more bytes after them.
class HttpParser {
  public:
    HttpParser();
    virtual ~HttpParser();
    HttpParser(const HttpParser&) = delete;
    HttpParser& operator=(const HttpParser&) = delete;

    /// How many of `bytes` were used. After the message's end that is 0; after a refusal nothing
    /// more may be passed.
    virtual std::expected<std::size_t, HttpRefusal> put(std::string_view bytes) = 0;
    virtual bool head_done() const = 0;
    virtual bool done() const = 0;
    /// Valid after the head: whether the connection may serve another message.
    virtual bool keep_alive() const = 0;
};

class HttpRequestParser final : public HttpParser {
  public:
    explicit HttpRequestParser(HttpMessageLimits limits);
    ~HttpRequestParser() override;

    /// Starts with the next request, which replaces the content of `into`; `into` stays valid until
    /// its end.
    void begin(HttpRequest& into);

    std::expected<std::size_t, HttpRefusal> put(std::string_view bytes) override;
    bool head_done() const override;
    bool done() const override;
    bool keep_alive() const override;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

class HttpResponseParser final : public HttpParser {
  public:
    explicit HttpResponseParser(HttpMessageLimits limits);
    ~HttpResponseParser() override;

    /// Starts with the next response. Body bytes are appended to `into.body`, from which they may
    /// be taken at any time. `without_body`: the response answers a HEAD.
    void begin(HttpResponse& into, bool without_body);

    std::expected<std::size_t, HttpRefusal> put(std::string_view bytes) override;
    /// The other side ended the connection: this ends a body without a length; otherwise it is a
    /// refusal.
    std::expected<void, HttpRefusal> put_end();
    bool head_done() const override;
    bool done() const override;
    bool keep_alive() const override;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace muster::net
