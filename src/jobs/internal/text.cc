#include "jobs/internal/text.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube/schema/schema.h"

namespace muster::jobs {
namespace {

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string dns1035_from(std::string_view text) {
    // Digits that belong to a word ("3d") would change its meaning if they were left out.
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const bool in_word =
        digits > 0 && digits < text.size() && is_lower(lower_case(text.substr(digits, 1))[0]);
    std::string name = in_word ? "job-" : "";
    for (char c : lower_case(text)) {
        const bool letter_or_digit = is_lower(c) || is_digit(c);
        if (name.empty() && !is_lower(c)) continue;
        if (letter_or_digit)
            name += c;
        else if (name.back() != '-')
            name += '-';
    }
    while (!name.empty() && name.back() == '-') name.pop_back();
    return name;
}

std::string in_spec(std::string_view field) { return fmt::format("spec.{}", field); }

Cause required(std::string field, std::string message) {
    return {"FieldValueRequired", std::move(message), std::move(field)};
}
Cause invalid(std::string field, std::string message) {
    return {"FieldValueInvalid", std::move(message), std::move(field)};
}
Cause not_supported(std::string field, std::string message) {
    return {"FieldValueNotSupported", std::move(message), std::move(field)};
}
Cause forbidden(std::string field, std::string message) {
    return {"FieldValueForbidden", std::move(message), std::move(field)};
}
Cause duplicate(std::string field, std::string message) {
    return {"FieldValueDuplicate", std::move(message), std::move(field)};
}
Cause not_found(std::string field, std::string message) {
    return {"FieldValueNotFound", std::move(message), std::move(field)};
}

Cause deprecated(std::string field, std::string message) {
    return {"Deprecated", std::move(message), std::move(field)};
}
Cause ineffective(std::string field, std::string message) {
    return {"Ineffective", std::move(message), std::move(field)};
}
Cause doubtful(std::string field, std::string message) {
    return {"Doubtful", std::move(message), std::move(field)};
}

std::string one_of(const std::vector<std::string>& values) {
    std::string text;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (i > 0) text += i + 1 == values.size() ? " or " : ", ";
        text += fmt::format("\"{}\"", values[i]);
    }
    return text;
}

std::string did_you_mean(std::string_view unknown, const std::vector<std::string>& known) {
    const std::string nearest = kube::nearest_name(unknown, known);
    return nearest.empty() ? std::string() : fmt::format(" (did you mean \"{}\"?)", nearest);
}

}  // namespace muster::jobs
