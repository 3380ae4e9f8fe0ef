#include "kube/label_syntax.h"

#include <algorithm>

namespace muster::kube {
namespace {

constexpr std::size_t kMaxName = 63;
constexpr std::size_t kMaxPrefix = 253;

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alphanumeric(char c) { return is_lower(c) || is_digit(c) || (c >= 'A' && c <= 'Z'); }

bool is_name(std::string_view text) {
    return !text.empty() && is_alphanumeric(text.front()) && is_alphanumeric(text.back()) &&
           std::all_of(text.begin(), text.end(), [](char c) {
               return is_alphanumeric(c) || c == '-' || c == '_' || c == '.';
           });
}

bool is_subdomain(std::string_view text) {
    while (true) {
        const std::size_t dot = text.find('.');
        const std::string_view word = text.substr(0, dot);
        auto edge = [](char c) { return is_lower(c) || is_digit(c); };
        if (word.empty() || !edge(word.front()) || !edge(word.back()) ||
            !std::all_of(word.begin(), word.end(), [&](char c) { return edge(c) || c == '-'; }))
            return false;
        if (dot == std::string_view::npos) return true;
        text.remove_prefix(dot + 1);
    }
}

constexpr const char* kNameRule =
    "must consist of letters, digits, '-', '_' or '.', and start and end with a letter or digit";

}  // namespace

std::string label_key_problem(std::string_view key) {
    std::string_view name = key;
    if (const std::size_t slash = key.find('/'); slash != std::string_view::npos) {
        const std::string_view prefix = key.substr(0, slash);
        name = key.substr(slash + 1);
        if (name.find('/') != std::string_view::npos)
            return "a key is a name with an optional prefix, [prefix/]name, and has one '/' at "
                   "most";
        if (prefix.empty()) return "the prefix before '/' must not be empty";
        if (prefix.size() > kMaxPrefix) return "the prefix must be no more than 253 characters";
        if (!is_subdomain(prefix))
            return "the prefix must be a DNS subdomain: lower case letters, digits, '-' and '.', "
                   "each part starting and ending with a letter or digit";
    }
    if (name.empty()) return "the name must not be empty";
    if (name.size() > kMaxName) return "the name must be no more than 63 characters";
    if (!is_name(name)) return std::string("the name ") + kNameRule;
    return {};
}

std::string label_value_problem(std::string_view value) {
    if (value.size() > kMaxName) return "must be no more than 63 characters";
    if (!value.empty() && !is_name(value)) return std::string("must be empty, or ") + kNameRule;
    return {};
}

}  // namespace muster::kube
