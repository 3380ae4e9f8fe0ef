#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time/clock.h"
#include "net/tls/tls.h"

namespace muster::net {

struct HttpHeader {
    std::string_view name;
    std::string_view value;
};

/// Header fields in their order; names are compared without case. Keeps all text in one buffer that
/// is reused after clear(): views into it are valid until the next change.
class HttpHeaders {
  public:
    HttpHeaders() = default;
    HttpHeaders(std::initializer_list<HttpHeader> fields) {
        for (const HttpHeader& field : fields) add(field.name, field.value);
    }

    void add(std::string_view name, std::string_view value);
    /// Replaces all fields of that name by one.
    void set(std::string_view name, std::string_view value);
    void erase(std::string_view name);
    void clear();

    /// The first field of that name.
    std::optional<std::string_view> find(std::string_view name) const;
    bool contains(std::string_view name) const { return find(name).has_value(); }
    std::size_t count(std::string_view name) const;
    /// Whether a field of that name, read as a list ("a, b"), has `token`, compared without case.
    bool has_token(std::string_view name, std::string_view token) const;

    std::size_t size() const { return fields_.size(); }
    bool empty() const { return fields_.empty(); }
    /// How many bytes of memory they take.
    std::size_t memory() const { return text_.capacity() + fields_.capacity() * sizeof(Field); }
    HttpHeader operator[](std::size_t index) const;

    class Iterator {
      public:
        using iterator_category = std::forward_iterator_tag;
        using value_type = HttpHeader;
        using difference_type = std::ptrdiff_t;
        using pointer = const HttpHeader*;
        using reference = HttpHeader;
        Iterator() = default;
        Iterator(const HttpHeaders* headers, std::size_t index)
            : headers_(headers), index_(index) {}
        HttpHeader operator*() const { return (*headers_)[index_]; }
        Iterator& operator++() {
            ++index_;
            return *this;
        }
        Iterator operator++(int) {
            Iterator before = *this;
            ++index_;
            return before;
        }
        friend bool operator==(const Iterator&, const Iterator&) = default;

      private:
        const HttpHeaders* headers_ = nullptr;
        std::size_t index_ = 0;
    };
    Iterator begin() const { return {this, 0}; }
    Iterator end() const { return {this, size()}; }

  private:
    struct Field {
        std::uint32_t name_at, name_size, value_at, value_size;
    };
    std::string text_;
    std::vector<Field> fields_;
};

/// The reason phrase of a status line: "Not Found"; "" for a status that has none.
std::string_view reason_phrase(unsigned status);
/// Whether it may be a header: the name is a token, the value has no control characters.
bool is_valid_header(std::string_view name, std::string_view value);
/// "Basic dXNlcjpwYXNzd29yZA==".
std::string basic_authorization(std::string_view user, std::string_view password);
/// "Sun, 06 Nov 1994 08:49:37 GMT".
std::string http_date(WallTime time);

struct HttpRequest {
    std::string method = "GET";
    std::string target = "/";  ///< as sent: path and query, still percent-encoded
    HttpHeaders headers;
    std::string body;
    int minor_version = 1;  ///< of HTTP/1.x
    /// A client does not begin to send it at this time or later.
    Instant send_before = Instant::max();
    std::string peer_address;
    /// Set if the client showed a certificate over TLS that the server's CA signed.
    std::optional<PeerCertificate> client_certificate;

    /// The target up to its '?', and after it.
    std::string_view path() const;
    std::string_view query() const;
};

struct HttpResponse {
    unsigned status = 200;
    HttpHeaders headers;
    std::string body;
};

}  // namespace muster::net
