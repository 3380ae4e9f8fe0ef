#include "apiserver/internal/pod_validation/name_checks.h"

#include <algorithm>

#include "apiserver/objects/metadata_words.h"
#include "kube/values/name_syntax.h"

namespace muster::apiserver {

namespace {

constexpr std::string_view kNamePart = "name part ";

bool is_word_end(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool has_word_form(std::string_view text) {
    return !text.empty() && is_word_end(text.front()) && is_word_end(text.back()) &&
           std::ranges::all_of(
               text, [](char c) { return is_word_end(c) || c == '-' || c == '_' || c == '.'; });
}

bool has_dns_form(std::string_view text) {
    const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
    return has_word_form(text) && text.find_first_of("_.") == std::string_view::npos &&
           std::ranges::none_of(text, is_upper);
}

bool has_dns_forms(std::string_view text) {
    while (true) {
        const std::size_t dot = text.find('.');
        if (!has_dns_form(text.substr(0, dot))) return false;
        if (dot == std::string_view::npos) return true;
        text.remove_prefix(dot + 1);
    }
}

/// One is left out before a label, others are as good as '-'.
std::string without_underscores(std::string_view domain) {
    std::string made;
    for (std::size_t i = 0; i < domain.size(); ++i) {
        const bool starts_label = i == 0 || domain[i - 1] == '.';
        if (domain[i] != '_')
            made += domain[i];
        else if (!starts_label)
            made += '-';
    }
    return made;
}

/// Adds causes about one text.
class TextCauses {
  public:
    TextCauses(std::string_view text, const std::string& field, Shown shown,
               FieldErrors& field_errors)
        : text_(text), field_(field), shown_(shown), field_errors_(field_errors) {}

    void add(std::string_view why) {
        field_errors_.push_back(invalid_text(field_, text_, why, shown_));
    }
    void check_length(std::string_view part, std::size_t most, std::string_view of = {}) {
        if (part.size() > most) add(fmt::format("{}must be no more than {} characters", of, most));
    }
    void check_subdomain(std::string_view part, std::string_view of = {}) {
        check_length(part, kube::kMaxSubdomain, of);
        if (!has_dns_forms(part)) add(fmt::format("{}{}", of, kDnsSubdomainMessage));
    }

  private:
    std::string_view text_;
    const std::string& field_;
    Shown shown_;
    FieldErrors& field_errors_;
};

}  // namespace

Cause invalid_text(const std::string& field, std::string_view text, std::string_view why,
                   Shown shown) {
    if (shown == Shown::kQuoted) return invalid_value(field, json::value(text), why);
    return {"FieldValueInvalid", fmt::format("Invalid value: {}: {}", text, why), field};
}

void check_dns_label(std::string_view text, const std::string& field, FieldErrors& field_errors) {
    TextCauses causes(text, field, Shown::kQuoted, field_errors);
    causes.check_length(text, kube::kMaxLabelName);
    if (!has_dns_form(text))
        causes.add(has_dns_forms(text) ? "must not contain dots" : kDnsLabelMessage);
}

void check_dns_subdomain(std::string_view text, const std::string& field, FieldErrors& field_errors,
                         std::optional<std::string_view> shown) {
    TextCauses(shown.value_or(text), field, Shown::kQuoted, field_errors).check_subdomain(text);
}

void check_search_domain(std::string_view text, const std::string& field,
                         FieldErrors& field_errors) {
    TextCauses causes(text, field, Shown::kQuoted, field_errors);
    causes.check_length(text, kube::kMaxSubdomain);
    if (!has_dns_forms(without_underscores(text)))
        causes.add(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, "
            "'_', '-' or '.', and must start and end with an alphanumeric character (e.g. "
            "'example.com', regex used for validation is "
            "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')");
}

void check_label_value(std::string_view text, const std::string& field, FieldErrors& field_errors) {
    TextCauses causes(text, field, Shown::kQuoted, field_errors);
    causes.check_length(text, kube::kMaxLabelName);
    if (!text.empty() && !has_word_form(text)) causes.add(kLabelValueMessage);
}

void check_qualified_name(std::string_view text, const std::string& field,
                          FieldErrors& field_errors) {
    check_qualified_name(text, field, Shown::kQuoted, field_errors);
}

void check_qualified_name(std::string_view text, const std::string& field, Shown shown,
                          FieldErrors& field_errors) {
    TextCauses causes(text, field, shown, field_errors);
    std::string_view name = text;
    if (const std::size_t slash = text.find('/'); slash != std::string_view::npos) {
        const std::string_view prefix = text.substr(0, slash);
        name.remove_prefix(slash + 1);
        if (name.find('/') != std::string_view::npos) {
            // The same rule, of the whole.
            causes.add(
                fmt::format("a qualified name {} with an optional DNS subdomain prefix and "
                            "'/' (e.g. 'example.com/MyName')",
                            kQualifiedNameMessage.substr(kNamePart.size())));
            return;
        }
        if (prefix.empty())
            causes.add("prefix part must be non-empty");
        else
            causes.check_subdomain(prefix, "prefix part ");
    }
    if (name.empty())
        causes.add("name part must be non-empty");
    else
        causes.check_length(name, kube::kMaxLabelName, kNamePart);
    if (!has_word_form(name)) causes.add(kQualifiedNameMessage);
}

}  // namespace muster::apiserver
