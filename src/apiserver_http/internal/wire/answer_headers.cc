#include "apiserver_http/internal/wire/answer_headers.h"

#include <fmt/format.h>

#include "apiserver_http/internal/json_access.h"
#include "base/utf8.h"
#include "base/visible_text.h"

namespace muster::apiserver_http {

namespace {

// All warnings of an answer: many clients read no more than a hundred header fields, and each may be
// on a way that limits what they have together. Upstream has the same limits of bytes.
constexpr std::size_t kMostWarnings = 50;
constexpr std::size_t kMostBytes = 4096;
constexpr std::size_t kMostBytesOfLong = 256;  ///< of each, if together they are too long

/// A header's value may not have an unescaped quotation mark or a control character; nor should the
/// terminals obey one on which clients print it.
std::string quoted(std::string_view text) {
    std::string quoted = "\"";
    for (const char c : visible_line(text)) {
        if (c == '"' || c == '\\') quoted += '\\';
        quoted += c == '\t' ? ' ' : c;
    }
    quoted += '"';
    return quoted;
}

void add_warning(net::HttpHeaders& headers, std::string_view text) {
    headers.add("Warning", "299 - " + quoted(text));
}

}  // namespace

net::HttpHeaders headers_of(std::string_view content_type) {
    net::HttpHeaders headers;
    headers.add("Content-Type", content_type);
    headers.add("Cache-Control", "no-cache, private");
    return headers;
}

void add_warnings(net::HttpHeaders& headers, const std::vector<std::string>& warnings) {
    std::size_t bytes = 0;
    for (const std::string& warning : warnings) bytes += warning.size();
    const bool too_long = bytes > kMostBytes;
    bytes = 0;
    std::size_t added = 0;
    for (const std::string& warning : warnings) {
        const std::string_view kept =
            too_long ? cut_utf8(warning, kMostBytesOfLong) : std::string_view(warning);
        bytes += kept.size();
        if (added == kMostWarnings || bytes > kMostBytes) break;
        add_warning(headers, kept.size() < warning.size() ? fmt::format("{}...", kept) : warning);
        ++added;
    }
    if (added < warnings.size())
        add_warning(headers, fmt::format("{} more warnings", warnings.size() - added));
}

void add_retry_after(net::HttpHeaders& headers, const kube::Response& response) {
    const json::object* status = response.body->if_object();
    const json::object* details = status == nullptr ? nullptr : object_at(*status, "details");
    if (details == nullptr) return;
    if (const auto seconds = int_at(*details, "retryAfterSeconds"))
        headers.add("Retry-After", std::to_string(*seconds));
}

}  // namespace muster::apiserver_http
