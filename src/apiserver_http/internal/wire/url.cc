#include "apiserver_http/internal/wire/url.h"

#include <algorithm>
#include <optional>

#include "base/fields.h"
#include "base/utf8.h"
#include "net/http/percent_decoding.h"

namespace muster::apiserver_http {

apiserver::StatusResult<Url> parse_url(std::string_view target) {
    if (!target.starts_with('/'))
        return apiserver::bad_request(
            fmt::format("the request target \"{}\" does not begin with /", as_utf8(target)));
    Url url;
    std::string_view path = take_field(target, '?');
    while (!path.empty()) {
        const std::string_view raw = take_field(path, '/');
        if (raw.empty()) continue;
        const std::optional<std::string> segment = net::percent_decoded(raw);
        if (!segment)
            return apiserver::bad_request(
                fmt::format("the path segment \"{}\" has a broken escape", as_utf8(raw)));
        if (*segment == "." || *segment == ".." || segment->find('/') != segment->npos ||
            segment->find('\0') != segment->npos || !is_utf8(*segment))
            return apiserver::bad_request(
                fmt::format("the path segment \"{}\" can't be a name", as_utf8(raw)));
        url.path += '/';
        url.path += *segment;
    }
    while (!target.empty()) {
        std::string_view pair = take_field(target, '&');
        if (pair.empty()) continue;
        const std::optional<std::string> key = net::percent_decoded(take_field(pair, '='), true);
        std::optional<std::string> value = net::percent_decoded(pair, true);
        if (!key || !value) return apiserver::bad_request("the query has a broken escape");
        if (!is_utf8(*key) || !is_utf8(*value))
            return apiserver::bad_request("the query has bytes that are not UTF-8");
        url.query.emplace_back(*key, *std::move(value));
    }
    return url;
}

bool take_watch_prefix(std::string& path) {
    constexpr std::string_view kWatch = "/watch/";
    const std::size_t at = path.find(kWatch);
    if (at == path.npos) return false;
    const std::string_view before = std::string_view(path).substr(0, at);
    const bool group_version = before.starts_with("/apis/") && std::ranges::count(before, '/') == 3;
    if (before != "/api/v1" && !group_version) return false;
    path.erase(at, kWatch.size() - 1);
    return true;
}

}  // namespace muster::apiserver_http
