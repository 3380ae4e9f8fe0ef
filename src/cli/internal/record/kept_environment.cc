#include "cli/internal/record/kept_environment.h"

#include <algorithm>
#include <array>
#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <string_view>

#include "base/fields.h"
#include "base/lower_case.h"
#include "kube/values/json.h"

namespace muster::cli {

namespace {

constexpr std::string_view kLeftOut = "(not kept: it looks secret)";

/// In any part of a name between underscores.
constexpr auto kSecretWords = std::to_array<std::string_view>(
    {"token",  "tokens", "secret",    "secrets", "password",   "passwd",      "pass",
     "pwd",    "key",    "keys",      "apikey",  "credential", "credentials", "auth",
     "cookie", "dsn",    "signature", "jwt",     "pat",        "webhook",     "passphrase"});
/// Names that have such a word and are not secret.
constexpr auto kHarmless = std::to_array<std::string_view>(
    {"ssh_auth_sock", "pwd", "oldpwd", "xauthority", "dbus_session_bus_address"});

/// "https://user:password@host".
bool has_password(std::string_view value) {
    const std::size_t scheme = value.find("://");
    if (scheme == value.npos) return false;
    const std::string_view rest = value.substr(scheme + 3);
    const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
    const std::size_t at = authority.rfind('@');
    return at != authority.npos && authority.substr(0, at).find(':') != authority.npos;
}

}  // namespace

bool names_a_secret(std::string_view name) {
    const std::string lower = lower_case(name);
    if (std::ranges::find(kHarmless, std::string_view(lower)) != kHarmless.end()) return false;
    std::string_view rest = lower;
    while (!rest.empty()) {
        const std::string_view word = take_field(rest, '_');
        if (std::ranges::find(kSecretWords, word) != kSecretWords.end()) return true;
    }
    return std::string_view(lower).find("password") != std::string_view::npos ||
           std::string_view(lower).find("secret") != std::string_view::npos ||
           std::string_view(lower).ends_with("token");
}

std::string kept_environment(std::vector<std::string> environment) {
    std::ranges::sort(environment);
    std::string text;
    for (const std::string& variable : environment) {
        const std::size_t equals = variable.find('=');
        if (equals == std::string::npos) continue;
        const std::string name = variable.substr(0, equals);
        const std::string value = variable.substr(equals + 1);
        text += name + "=";
        if (names_a_secret(name) || has_password(value))
            text += kLeftOut;
        else if (value.find('\n') != std::string::npos)
            text += json::serialize(json::value(value));
        else
            text += value;
        text += '\n';
    }
    return text;
}

}  // namespace muster::cli
