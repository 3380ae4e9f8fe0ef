#include "control_plane/internal/webhook_exchange.h"

#include <fmt/format.h>

#include <algorithm>

#include "net/port.h"

namespace muster::control_plane {

namespace {

/// What of a foreign body a message quotes.
constexpr std::size_t kQuoted = 2048;

/// HOST[:PORT] of `authority`.
Result<void> read_authority(std::string_view authority, HttpPlace& place) {
    if (const std::size_t user = authority.rfind('@'); user != authority.npos)
        authority.remove_prefix(user + 1);
    std::string_view port;
    if (authority.starts_with('[')) {
        const std::size_t end = authority.find(']');
        if (end == authority.npos) return Error(Code::kInvalid, "missing ']' in host");
        place.host = authority.substr(1, end - 1);
        port = authority.substr(end + 1);
    } else {
        const std::size_t colon = std::min(authority.find(':'), authority.size());
        place.host = authority.substr(0, colon);
        port = authority.substr(colon);
    }
    place.port = place.tls ? 443 : 80;
    if (place.host.empty()) return Error(Code::kInvalid, "no Host in request URL");
    if (port.empty() || port == ":") return {};
    const auto number = port.starts_with(':') ? net::parse_port(port.substr(1)) : std::nullopt;
    if (!number) return Error(Code::kInvalid, fmt::format("invalid port \"{}\" after host", port));
    place.port = *number;
    return {};
}

/// The path without "." and ".." (RFC 3986, section 5.2.4).
std::string without_dots(std::string_view path) {
    std::string kept;
    for (std::size_t begin = 1; begin <= path.size();) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        const std::string_view segment = path.substr(begin, end - begin);
        const bool last = end == path.size();
        begin = end + 1;
        if (segment == "..") kept.resize(std::min(kept.rfind('/'), kept.size()));
        if (segment != "." && segment != "..")
            kept.append("/").append(segment);
        else if (last)
            kept += '/';
    }
    return kept.empty() ? "/" : kept;
}

/// The target of a reference without scheme and authority.
std::string resolved_target(std::string_view base, std::string_view reference) {
    const std::size_t query = std::min(reference.find('?'), reference.size());
    const std::string_view path = reference.substr(0, query);
    const std::string_view base_path = base.substr(0, base.find('?'));
    if (path.empty() && query == reference.size()) return std::string(base);
    std::string whole(base_path);
    if (path.starts_with('/'))
        whole = path;
    else if (!path.empty())
        whole = fmt::format("{}{}", base_path.substr(0, base_path.rfind('/') + 1), path);
    return fmt::format("{}{}", without_dots(whole), reference.substr(query));
}

bool is_text(const net::HttpResponse& answer) {
    const auto type = answer.headers.find("Content-Type");
    return type && type->starts_with("text/");
}

/// In the words of apimachinery's NewGenericServerResponse. A body is quoted only if it is text.
std::string failure_text(const net::HttpResponse& answer) {
    std::string said = is_text(answer) ? answer.body.substr(0, kQuoted) : "unknown";
    while (!said.empty() && (said.back() == '\n' || said.back() == ' ')) said.pop_back();
    switch (answer.status) {
        case 400:
            return "the server rejected our request for an unknown reason";
        case 401:
            return "the server has asked for the client to provide credentials";
        case 403:
            return said == "unknown" ? "unknown" : said;
        case 404:
            return "the server could not find the requested resource";
        case 405:
            return "the server does not allow this method on the requested resource";
        case 409:
            return "the server reported a conflict";
        case 413:
            return fmt::format("Request entity too large: {}", said);
        case 422:
            return "the server rejected our request due to an error in our request";
        case 429:
            return "the server has received too many requests and has asked us to try again later";
        case 503:
            return "the server is currently unable to handle the request";
        case 504:
            return "the server was unable to return a response in the time allotted, but may still "
                   "be processing the request";
        default:
            break;
    }
    if (answer.status >= 500)
        return fmt::format(
            "an error on the server (\"{}\") has prevented the request from succeeding", said);
    return fmt::format(
        "the server responded with the status code {} but did not return more "
        "information",
        answer.status);
}

}  // namespace

Redirect redirect_of(unsigned status) {
    if (status == 307 || status == 308) return Redirect::kSame;
    if (status == 301 || status == 302 || status == 303) return Redirect::kGet;
    return Redirect::kNone;
}

Result<HttpPlace> redirected(const HttpPlace& from, std::string_view location) {
    const auto outside_of_urls = [](char each) {
        return static_cast<unsigned char>(each) <= ' ' || each == '\x7f';
    };
    if (std::ranges::any_of(location, outside_of_urls))
        return Error(Code::kInvalid, "failed to parse Location header: invalid character");
    location = location.substr(0, location.find('#'));
    HttpPlace to = from;
    std::string_view rest = location;
    if (const std::size_t colon = rest.find(':');
        colon != rest.npos && colon < std::min(rest.find('/'), rest.find('?'))) {
        const std::string_view scheme = rest.substr(0, colon);
        if (scheme != "https" && scheme != "http")
            return Error(Code::kInvalid, fmt::format("unsupported protocol scheme \"{}\"", scheme));
        to.tls = scheme == "https";
        rest.remove_prefix(colon + 1);
        if (!rest.starts_with("//")) return Error(Code::kInvalid, "no Host in request URL");
    }
    if (!rest.starts_with("//")) {
        to.target = resolved_target(from.target, rest);
        return to;
    }
    rest.remove_prefix(2);
    const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
    TRY_VOID(read_authority(rest.substr(0, end), to));
    rest.remove_prefix(end);
    to.target = rest.starts_with('/') ? std::string(rest) : fmt::format("/{}", rest);
    return to;
}

Result<std::string> body_or_failure(net::HttpResponse answer) {
    constexpr unsigned kLastSuccess = 206;
    if (answer.status < 200 || answer.status > kLastSuccess)
        return Error(Code::kUnavailable, failure_text(answer));
    if (answer.body.empty())
        return Error(Code::kInvalid,
                     fmt::format("0-length response with status code: {} and content type: {}",
                                 answer.status, answer.headers.find("Content-Type").value_or("")));
    return std::move(answer.body);
}

}  // namespace muster::control_plane
