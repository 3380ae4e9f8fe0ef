#include "apiserver_http/internal/extensions/forwarded_headers.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "base/lower_case.h"

namespace muster::apiserver_http {

namespace {

/// They count for one connection (RFC 9110, section 7.6.1), or are written again.
constexpr std::string_view kOfConnection[] = {
    "connection", "keep-alive",       "proxy-authenticate", "proxy-authorization",
    "te",         "trailer",          "transfer-encoding",  "upgrade",
    "expect",     "proxy-connection", "content-length",     "host"};
/// What tells who sends a request, to this server or to one behind it.
constexpr std::string_view kOfIdentity[] = {"authorization", "x-remote-user", "x-remote-uid",
                                            "x-remote-group"};
constexpr std::string_view kIdentityPrefixes[] = {"x-remote-extra-", "impersonate-",
                                                  "x-forwarded-"};

/// Some programs read '_' in a name as '-'.
std::string plain_field_name(std::string_view name) {
    std::string text = lower_case(name);
    std::ranges::replace(text, '_', '-');
    return text;
}

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
    return std::ranges::find(names, name) != names.end();
}

bool counts_for_connection(const net::HttpHeaders& headers, std::string_view canonical_name) {
    return is_one_of(canonical_name, kOfConnection) ||
           headers.has_token("Connection", canonical_name);
}

bool is_letter_of_field_names(char letter) {
    constexpr std::string_view kMarks = "!#$&'*+-.^_`|~";
    return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
           (letter >= 'A' && letter <= 'Z') || kMarks.find(letter) != kMarks.npos;
}

std::string escaped_key(std::string_view key) {
    std::string text;
    for (const char letter : key) {
        if (is_letter_of_field_names(letter))
            text += letter;
        else
            text += fmt::format("%{:02X}", static_cast<unsigned char>(letter));
    }
    return text;
}

}  // namespace

bool asks_for_upgrade(const net::HttpHeaders& headers) {
    return headers.contains("Upgrade") && headers.has_token("Connection", "upgrade");
}

std::string forwarded_target(std::string_view target) {
    const std::size_t query = std::min(target.find('?'), target.size());
    std::string made;
    for (const char letter : target.substr(0, query))
        if (letter != '/' || !made.ends_with('/')) made += letter;
    return made.append(target.substr(query));
}

net::HttpHeaders forwarded_headers(const net::HttpHeaders& sent, const apiserver::User& user) {
    net::HttpHeaders made;
    for (const auto& [name, value] : sent) {
        const std::string plain = plain_field_name(name);
        const bool dropped = counts_for_connection(sent, plain) || is_one_of(plain, kOfIdentity) ||
                             std::ranges::any_of(kIdentityPrefixes, [&](std::string_view prefix) {
                                 return plain.starts_with(prefix);
                             });
        if (!dropped) made.add(name, value);
    }
    made.add("X-Remote-User", user.name);
    if (!user.uid.empty()) made.add("X-Remote-Uid", user.uid);
    for (const std::string& group : user.groups) made.add("X-Remote-Group", group);
    for (const auto& [key, values] : user.extra)
        for (const std::string& value : values)
            made.add("X-Remote-Extra-" + escaped_key(key), value);
    return made;
}

net::HttpHeaders returned_headers(const net::HttpHeaders& answered) {
    net::HttpHeaders made;
    for (const auto& [name, value] : answered) {
        const std::string plain = lower_case(name);
        // The date is that of this server's answer.
        if (!counts_for_connection(answered, plain) && plain != "date") made.add(name, value);
    }
    return made;
}

}  // namespace muster::apiserver_http
