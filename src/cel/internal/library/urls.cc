#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/lower_case.h"
#include "cel/internal/characters.h"
#include "cel/internal/library/arguments.h"
#include "cel/internal/library/parts.h"
#include "cel/internal/library/url.h"
#include "kube/values/go_quote.h"

namespace muster::cel {
namespace {

/// Without its escapes; nothing if one is incomplete.
std::optional<std::string> unescaped(std::string_view text, bool plus_is_blank) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '%') {
            if (i + 2 >= text.size() || hex_digit(text[i + 1]) < 0 || hex_digit(text[i + 2]) < 0)
                return std::nullopt;
            result += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
            i += 2;
        } else {
            result += plus_is_blank && text[i] == '+' ? ' ' : text[i];
        }
    }
    return result;
}

/// Of what is before the first colon; "" if there is none. Nothing if it can't be a scheme.
std::optional<std::string_view> scheme_of(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (is_letter(c)) continue;
        if (is_digit(c) || c == '+' || c == '-' || c == '.') {
            if (i == 0) return "";
            continue;
        }
        if (c != ':') return "";
        if (i == 0) return std::nullopt;
        return text.substr(0, i);
    }
    return "";
}

/// Where the port begins, with its colon; the end if there is none.
std::size_t port_at(std::string_view host) {
    const std::size_t bracket = host.rfind(']');
    const std::size_t colon = host.rfind(':');
    const bool inside = bracket != host.npos && (colon == host.npos || colon < bracket);
    return inside || colon == host.npos ? host.size() : colon;
}

/// Why it is no host, or "".
std::string host_problem(std::string_view host) {
    if (host.starts_with('[') && host.find(']') == host.npos) return "missing ']' in host";
    const std::string_view port = host.substr(port_at(host));
    if (!port.empty() && !std::ranges::all_of(port.substr(1), is_digit))
        return fmt::format("invalid port \"{}\" after host", port);
    for (char c : host)
        if (std::string_view(" <>\"{}|\\^`#?").find(c) != std::string_view::npos)
            return fmt::format("invalid character \"{}\" in host name", c);
    return {};
}

bool may_stand_in_path(char c) {
    return is_letter(c) || is_digit(c) ||
           std::string_view("%-_.~$&+,/:;=@!'()*[]").find(c) != std::string_view::npos;
}

}  // namespace

std::expected<Url, std::string> Url::parse(std::string_view text) {
    auto refuse = [&](std::string_view why) {
        return std::unexpected(fmt::format("parse {}: {}", kube::go_quoted(text), why));
    };
    if (text.empty()) return refuse("empty url");
    for (char c : text)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
            return refuse("net/url: invalid control character in URL");
    Url url;
    url.text_ = text;
    const std::optional<std::string_view> scheme = scheme_of(text);
    if (!scheme) return refuse("missing protocol scheme");
    url.scheme_ = lower_case(*scheme);
    std::string_view rest = scheme->empty() ? text : text.substr(scheme->size() + 1);
    rest = rest.substr(0, rest.find('#'));
    if (const std::size_t mark = rest.find('?'); mark != rest.npos) {
        url.query_ = rest.substr(mark + 1);
        rest = rest.substr(0, mark);
    }
    if (!rest.starts_with('/')) {
        if (scheme->empty()) return refuse("invalid URI for request");
        return url;  // opaque after its scheme, such as mailto:someone
    }
    if (rest.starts_with("//") && (!scheme->empty() || !rest.starts_with("///"))) {
        rest.remove_prefix(2);
        std::string_view authority = rest.substr(0, rest.find('/'));
        rest.remove_prefix(authority.size());
        if (const std::size_t at = authority.rfind('@'); at != authority.npos)
            authority.remove_prefix(at + 1);
        if (std::string problem = host_problem(authority); !problem.empty()) return refuse(problem);
        const std::optional<std::string> host = unescaped(authority, false);
        if (!host) return refuse("invalid URL escape in host");
        url.host_ = *host;
    }
    if (!unescaped(rest, false)) return refuse("invalid URL escape in path");
    url.path_ = rest;
    return url;
}

std::string Url::host_name() const {
    std::string_view name = std::string_view(host_).substr(0, port_at(host_));
    if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
    return std::string(name);
}

std::string Url::port() const {
    const std::size_t at = port_at(host_);
    return at >= host_.size() ? std::string() : host_.substr(at + 1);
}

std::string Url::escaped_path() const {
    std::string escaped;
    for (char c : path_)
        escaped += may_stand_in_path(c) ? std::string(1, c)
                                        : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    return escaped;
}

std::map<std::string, std::vector<std::string>> Url::query() const {
    std::map<std::string, std::vector<std::string>> found;
    std::string_view rest = query_;
    while (!rest.empty()) {
        const std::string_view pair = rest.substr(0, rest.find('&'));
        rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
        // As Go: a pair with ';' or an incomplete escape is left out.
        if (pair.empty() || pair.find(';') != pair.npos) continue;
        const std::size_t mark = pair.find('=');
        const auto key = unescaped(pair.substr(0, mark), true);
        const auto value =
            unescaped(mark == pair.npos ? std::string_view() : pair.substr(mark + 1), true);
        if (key && value) found[*key].push_back(*value);
    }
    return found;
}

namespace {

Outcome url(Arguments arguments) {
    const Text* text = argument<Text>(arguments, 0);
    if (text == nullptr) return no_such_overload();
    std::expected<Url, std::string> parsed = Url::parse(text->view());
    if (!parsed) return failure("URL parse error during conversion from string: " + parsed.error());
    return std::shared_ptr<const Opaque>(std::make_shared<Url>(*std::move(parsed)));
}
Outcome is_url(Arguments arguments) {
    const Text* text = argument<Text>(arguments, 0);
    if (text == nullptr) return no_such_overload();
    return Url::parse(text->view()).has_value();
}
Outcome scheme(Arguments arguments) {
    return part_of<Url>(arguments, [](const Url& url) { return Value::text(url.scheme()); });
}
Outcome host(Arguments arguments) {
    return part_of<Url>(arguments, [](const Url& url) { return Value::text(url.host()); });
}
Outcome host_name(Arguments arguments) {
    return part_of<Url>(arguments, [](const Url& url) { return Value::text(url.host_name()); });
}
Outcome port(Arguments arguments) {
    return part_of<Url>(arguments, [](const Url& url) { return Value::text(url.port()); });
}
Outcome path(Arguments arguments) {
    return part_of<Url>(arguments, [](const Url& url) { return Value::text(url.escaped_path()); });
}
Outcome query(Arguments arguments) {
    return part_of<Url>(arguments, [](const Url& url) {
        std::vector<std::pair<Value, Value>> entries;
        for (const auto& [key, values] : url.query()) {
            std::vector<Value> list;
            for (const std::string& value : values) list.push_back(Value::text(value));
            entries.emplace_back(Value::text(key), Value::list(std::move(list)));
        }
        return Value::map(std::move(entries));
    });
}

constexpr NamedFunction kFunctions[] = {
    {"url", url},
    {"isURL", is_url},
    {"getScheme", scheme},
    {"getHost", host},
    {"getHostname", host_name},
    {"getPort", port},
    {"getEscapedPath", path},
    {"getQuery", query},
};

}  // namespace

std::span<const NamedFunction> url_functions() { return kFunctions; }

}  // namespace muster::cel
