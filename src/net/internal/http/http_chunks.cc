#include "net/internal/http/http_chunks.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/lower_case.h"
#include "net/http/http.h"

namespace muster::net {

namespace {

/// Limit of the line before a chunk, extensions included, and of the whole trailer.
constexpr std::size_t kMaxLine = std::size_t{16} * 1024;

std::unexpected<HttpRefusal> refuse(std::string reason) {
    return std::unexpected(HttpRefusal{.status = 400, .reason = std::move(reason)});
}

/// The first line of `bytes` without its CR LF; nullopt until it is complete.
std::expected<std::optional<std::string_view>, HttpRefusal> line_of(std::string_view bytes) {
    const std::size_t end = bytes.find('\n');
    if (std::min(end, bytes.size()) > kMaxLine) return refuse("a line between chunks is too long");
    if (end == std::string_view::npos) return std::nullopt;
    if (end == 0 || bytes[end - 1] != '\r')
        return refuse("a line between chunks does not end in CR LF");
    const std::string_view line = bytes.substr(0, end - 1);
    if (!is_valid_header("X", line)) return refuse("a control character between chunks");
    return line;
}

}  // namespace

std::expected<void, HttpRefusal> HttpChunks::size_line(std::string_view line,
                                                       std::size_t body_limit) {
    std::size_t size = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), size, 16);
    const bool too_large = error == std::errc::result_out_of_range;
    // from_chars() accepts no sign for an unsigned number.
    if (error != std::errc() && !too_large) return refuse("the size of a chunk is not a number");
    const std::string_view rest = line.substr(static_cast<std::size_t>(end - line.data()));
    if (!rest.empty() && rest.front() != ';') return refuse("the size of a chunk is not a number");
    if (too_large || size > body_limit - total_)
        return std::unexpected(HttpRefusal{
            .status = 413, .reason = fmt::format("the body is larger than {} bytes", body_limit)});
    total_ += size;
    left_ = size;
    state_ = size == 0 ? State::kTrailer : State::kData;
    return {};
}

std::expected<void, HttpRefusal> HttpChunks::trailer_line(std::string_view line) {
    if (line.empty()) {
        state_ = State::kDone;
        return {};
    }
    trailer_ += line.size();
    const std::string_view name = line.substr(0, line.find(':'));
    if (trailer_ > kMaxLine) return refuse("the trailer is too long");
    if (name.size() == line.size() || !is_valid_header(name, ""))
        return refuse("a line of the trailer is not a field");
    if (equal_without_case(name, "Content-Length") || equal_without_case(name, "Transfer-Encoding"))
        return refuse("a length in the trailer");
    return {};
}

std::expected<std::size_t, HttpRefusal> HttpChunks::put(std::string_view bytes, std::string& body,
                                                        std::size_t body_limit) {
    std::size_t used = 0;
    while (used < bytes.size() && !done()) {
        const std::string_view rest = bytes.substr(used);
        if (state_ == State::kData) {
            const std::size_t size = std::min(left_, rest.size());
            body.append(rest.substr(0, size));
            used += size;
            left_ -= size;
            if (left_ == 0) state_ = State::kDataEnd;
            continue;
        }
        if (state_ == State::kDataEnd) {
            if (!std::string_view("\r\n").starts_with(rest.substr(0, 2)))
                return refuse("a chunk does not end where its size says");
            if (rest.size() < 2) break;
            used += 2;
            state_ = State::kSize;
            continue;
        }
        const auto line = line_of(rest);
        if (!line) return std::unexpected(line.error());
        if (!*line) break;
        const auto judged =
            state_ == State::kSize ? size_line(**line, body_limit) : trailer_line(**line);
        if (!judged) return std::unexpected(judged.error());
        used += (*line)->size() + 2;
    }
    return used;
}

}  // namespace muster::net
