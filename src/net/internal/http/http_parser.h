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

/// Reads one message after the other from bytes. Refuses whatever two readers could understand
/// differently: several or odd lengths, lines that do not end in CR LF, folded lines.
///
/// Whoever feeds it keeps the bytes that were not used up and puts them again, with more behind
/// them.
class HttpParser {
  public:
    HttpParser();
    virtual ~HttpParser();
    HttpParser(const HttpParser&) = delete;
    HttpParser& operator=(const HttpParser&) = delete;

    /// How many of `bytes` were used up. After the message's end none are; after a refusal nothing
    /// may be put any more.
    virtual std::expected<std::size_t, HttpRefusal> put(std::string_view bytes) = 0;
    virtual bool head_done() const = 0;
    virtual bool done() const = 0;
    /// After the head: whether the connection may serve another message.
    virtual bool keep_alive() const = 0;
};

class HttpRequestParser final : public HttpParser {
  public:
    explicit HttpRequestParser(HttpMessageLimits limits);
    ~HttpRequestParser() override;

    /// Starts with the next request, which replaces what `into` holds; `into` stays until its end.
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

    /// Starts with the next response. Body bytes are appended to `into.body`, from where they may
    /// be taken at any time. `without_body`: it answers a HEAD.
    void begin(HttpResponse& into, bool without_body);

    std::expected<std::size_t, HttpRefusal> put(std::string_view bytes) override;
    /// The other side ended the connection: the end of a body without a length, otherwise a
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
