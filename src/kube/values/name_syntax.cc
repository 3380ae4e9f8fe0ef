#include "kube/values/name_syntax.h"

#include <algorithm>

namespace muster::kube {
namespace {

constexpr std::size_t kMaxPortName = 15;

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_lower_or_digit(char c) { return is_lower(c) || is_digit(c); }
bool is_alphanumeric(char c) { return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z'); }

constexpr const char* kLabelRule =
    "must consist of letters, digits, '-', '_' or '.', and start and end with a letter or digit";

}  // namespace

bool has_dns1123_form(std::string_view text) {
    return !text.empty() && is_lower_or_digit(text.front()) && is_lower_or_digit(text.back()) &&
           std::ranges::all_of(text, [](char c) { return is_lower_or_digit(c) || c == '-'; });
}

bool has_subdomain_form(std::string_view text) {
    while (true) {
        const std::size_t dot = text.find('.');
        if (!has_dns1123_form(text.substr(0, dot))) return false;
        if (dot == std::string_view::npos) return true;
        text.remove_prefix(dot + 1);
    }
}

bool has_label_form(std::string_view text) {
    return !text.empty() && is_alphanumeric(text.front()) && is_alphanumeric(text.back()) &&
           std::ranges::all_of(
               text, [](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

bool is_dns1123_label(std::string_view text) {
    return text.size() <= kMaxLabelName && has_dns1123_form(text);
}

bool is_dns1123_subdomain(std::string_view text) {
    return text.size() <= kMaxSubdomain && has_subdomain_form(text);
}

bool has_dns1035_form(std::string_view text) {
    return has_dns1123_form(text) && is_lower(text.front());
}

bool is_dns1035_label(std::string_view text) {
    return text.size() <= kMaxLabelName && has_dns1035_form(text);
}

bool is_port_name(std::string_view text) {
    return text.size() <= kMaxPortName && has_dns1123_form(text) &&
           std::ranges::any_of(text, is_lower) && text.find("--") == std::string_view::npos;
}

bool is_env_name(std::string_view text) {
    return !text.empty() &&
           std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~' && c != '='; });
}

bool is_native_resource(std::string_view name) {
    return name.find('/') == std::string_view::npos ||
           name.find("kubernetes.io/") != std::string_view::npos;
}

std::string label_key_problem(std::string_view key) {
    std::string_view name = key;
    if (const std::size_t slash = key.find('/'); slash != std::string_view::npos) {
        const std::string_view prefix = key.substr(0, slash);
        name = key.substr(slash + 1);
        if (name.find('/') != std::string_view::npos)
            return "a key is a name with an optional prefix, [prefix/]name, and has one '/' at "
                   "most";
        if (prefix.empty()) return "the prefix before '/' must not be empty";
        if (prefix.size() > kMaxSubdomain) return "the prefix must be no more than 253 characters";
        if (!has_subdomain_form(prefix))
            return "the prefix must be a DNS subdomain: lower case letters, digits, '-' and '.', "
                   "each part starting and ending with a letter or digit";
    }
    if (name.empty()) return "the name must not be empty";
    if (name.size() > kMaxLabelName) return "the name must be no more than 63 characters";
    if (!has_label_form(name)) return std::string("the name ") + kLabelRule;
    return {};
}

std::string label_value_problem(std::string_view value) {
    if (value.size() > kMaxLabelName) return "must be no more than 63 characters";
    if (!value.empty() && !has_label_form(value))
        return std::string("must be empty, or ") + kLabelRule;
    return {};
}

}  // namespace muster::kube
