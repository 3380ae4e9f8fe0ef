#include <algorithm>
#include <array>

#include "base/lower_case.h"
#include "cel/internal/characters.h"
#include "cel/internal/library/arguments.h"
#include "cel/internal/library/name_problems.h"
#include "cel/internal/library/named_format.h"
#include "cel/internal/library/url.h"
#include "cel/internal/time_text.h"
#include "kube/values/base64.h"
#include "kube/values/regex.h"

namespace muster::cel {
namespace {

using Problems = std::vector<std::string>;

Problems of_flag(bool good, const char* problem) { return good ? Problems{} : Problems{problem}; }

/// Groups of 8, 4, 4, 4 and 12 digits; each dash between them may be absent.
bool is_uuid(std::string_view text) {
    constexpr std::array<std::size_t, 5> kGroups = {8, 4, 4, 4, 12};
    for (std::size_t group = 0; group < kGroups.size(); ++group) {
        if (group > 0 && text.starts_with('-')) text.remove_prefix(1);
        if (text.size() < kGroups[group]) return false;
        for (char c : text.substr(0, kGroups[group]))
            if (hex_digit(c) < 0) return false;
        text.remove_prefix(kGroups[group]);
    }
    return text.empty();
}

/// One group of four characters at least, and padding only where it belongs.
bool is_base64(std::string_view text) {
    return !text.empty() && text.find_first_of("\r\n") == text.npos &&
           kube::base64_decode(text).has_value();
}

/// A day, and a time of the day in a form of its own, whatever follows a second 't' (kube-openapi, pkg/validation/strfmt).
bool is_datetime(std::string_view text) {
    const std::string lower = lower_case(text);
    const std::size_t middle = lower.find('t');
    if (middle == lower.npos || !parse_date(std::string_view(lower).substr(0, middle)))
        return false;
    std::string_view time = std::string_view(lower).substr(middle + 1);
    time = time.substr(0, time.find('t'));
    static const std::shared_ptr<const kube::Regex> form = kube::Regex::of(
        "^([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](.[0-9]+)?(z|[+-][0-9]{2}:[0-9]{2})$");
    return form->matches(time);
}

struct Format {
    std::string_view name;
    std::size_t longest_pattern;  ///< by which costs are counted
    Problems (*check)(std::string_view text);
};

constexpr std::array<Format, 13> kFormats{{
    {"dns1123Label", 30, dns1123_label_problems},
    {"dns1123Subdomain", 60, dns1123_subdomain_problems},
    {"dns1035Label", 30, dns1035_label_problems},
    {"qualifiedName", 60, qualified_name_problems},
    {"dns1123LabelPrefix", 30,
     [](std::string_view text) { return dns1123_label_problems(without_trailing_dash(text)); }},
    {"dns1123SubdomainPrefix", 60,
     [](std::string_view text) { return dns1123_subdomain_problems(without_trailing_dash(text)); }},
    {"dns1035LabelPrefix", 30,
     [](std::string_view text) { return dns1035_label_problems(without_trailing_dash(text)); }},
    {"labelValue", 40, label_value_problems},
    {"uri", 1103,
     [](std::string_view text) {
         const auto url = Url::parse(text);
         return url ? Problems{} : Problems{url.error()};
     }},
    {"uuid", 70,
     [](std::string_view text) {
         return of_flag(is_uuid(text), "does not match the UUID format");
     }},
    {"byte", 84, [](std::string_view text) { return of_flag(is_base64(text), "invalid base64"); }},
    {"date", 71,
     [](std::string_view text) { return of_flag(parse_date(text).has_value(), "invalid date"); }},
    {"datetime", 71,
     [](std::string_view text) { return of_flag(is_datetime(text), "invalid datetime"); }},
}};

class FormatValue final : public Opaque, public NamedFormat {
  public:
    explicit FormatValue(const Format& format) : format_(&format) {}
    std::string_view type_name() const override { return "kubernetes.NamedFormat"; }
    std::string content() const override { return std::string(format_->name); }
    std::size_t longest_pattern() const override { return format_->longest_pattern; }
    Problems check(std::string_view text) const { return format_->check(text); }

  private:
    const Format* format_;
};

Value value_of(const Format& format) {
    return std::shared_ptr<const Opaque>(std::make_shared<FormatValue>(format));
}
template <std::size_t Index>
Outcome constant(Arguments) {
    return value_of(kFormats[Index]);
}

Outcome named(Arguments arguments) {
    const Text* name = argument<Text>(arguments, 0);
    if (name == nullptr) return no_such_overload();
    const auto* format = std::ranges::find(kFormats, name->view(), &Format::name);
    return format == kFormats.end() ? Value::none() : Value::some(value_of(*format));
}

Outcome validate(Arguments arguments) {
    const auto* format = arguments[0].opaque<FormatValue>();
    const Text* text = argument<Text>(arguments, 1);
    if (format == nullptr || text == nullptr) return no_such_overload();
    std::vector<Value> problems;
    for (std::string& problem : format->check(text->view()))
        problems.push_back(Value::text(std::move(problem)));
    return problems.empty() ? Value::none() : Value::some(Value::list(std::move(problems)));
}

constexpr NamedFunction kFunctions[] = {
    {"format.dns1123Label", constant<0>},
    {"format.dns1123Subdomain", constant<1>},
    {"format.dns1035Label", constant<2>},
    {"format.qualifiedName", constant<3>},
    {"format.dns1123LabelPrefix", constant<4>},
    {"format.dns1123SubdomainPrefix", constant<5>},
    {"format.dns1035LabelPrefix", constant<6>},
    {"format.labelValue", constant<7>},
    {"format.uri", constant<8>},
    {"format.uuid", constant<9>},
    {"format.byte", constant<10>},
    {"format.date", constant<11>},
    {"format.datetime", constant<12>},
    {"format.named", named},
    {"validate", validate},
};

}  // namespace

std::span<const NamedFunction> format_functions() { return kFunctions; }

}  // namespace muster::cel
