// The first byte selects what the rest is (requests or answers, to a HEAD or not) and the size of
// the pieces into which it is cut. However it is cut, the parser reads the same messages from it,
// and no head or body exceeds its limit.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "net/internal/http/http_parser.h"

using namespace muster::net;

namespace {

constexpr HttpMessageLimits kLimits{.head = 1000, .body = 2000};

std::string describe(const HttpHeaders& headers, const std::string& body) {
    std::string text;
    for (const HttpHeader field : headers) {
        CHECK(is_valid_header(field.name, field.value), "what is read could be sent");
        text.append(field.name).append("=").append(field.value).append(";");
    }
    CHECK(text.size() <= kLimits.head, "no head is over its limit");
    CHECK(body.size() <= kLimits.body, "no body is over its limit");
    return text + body + "\n";
}

/// All messages in `bytes`, and how they end.
template <class Parser, class Message, class Begin>
std::string read_all(std::string_view bytes, std::size_t piece, Begin begin) {
    Parser parser(kLimits);
    Message message;
    begin(parser, message);
    std::string said;
    std::string pending;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
        pending.append(bytes.substr(at, piece));
        while (!pending.empty()) {
            const auto used = parser.put(pending);
            if (!used) return said + "refused " + std::to_string(used.error().status);
            CHECK(*used <= pending.size(), "no more is used than there is");
            pending.erase(0, *used);
            if (parser.done()) {
                said += describe(message.headers, message.body);
                if (!parser.keep_alive()) return said + "last";
                begin(parser, message);
            } else if (*used == 0) {
                break;
            }
        }
    }
    return said + (parser.head_done() ? "in a body" : "in a head");
}

std::string read(std::string_view bytes, std::uint8_t kind, std::size_t piece) {
    if ((kind & 0x80) != 0)
        return read_all<HttpRequestParser, HttpRequest>(
            bytes, piece, [](HttpRequestParser& parser, HttpRequest& into) { parser.begin(into); });
    const bool without_body = (kind & 0x40) != 0;
    return read_all<HttpResponseParser, HttpResponse>(
        bytes, piece, [without_body](HttpResponseParser& parser, HttpResponse& into) {
            parser.begin(into, without_body);
        });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
    CHECK(read(bytes, data[0], (data[0] & 0x3fu) + 1) == read(bytes, data[0], bytes.size()),
          "how bytes are cut does not matter");
    return 0;
}
