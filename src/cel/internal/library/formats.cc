#include <algorithm>
#include <array>

#include "cel/internal/characters.h"
#include "cel/internal/library/arguments.h"
#include "cel/internal/library/named_format.h"
#include "cel/internal/library/url.h"
#include "cel/internal/time_text.h"
#include "kube/values/base64.h"
#include "kube/values/name_syntax.h"

namespace muster::cel {
namespace {

using Problems = std::vector<std::string>;

// The texts of k8s.io/apimachinery, util/validation.
constexpr const char* kLabelProblem =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must "
    "start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for "
    "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr const char* kSubdomainProblem =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', "
    "and must start and end with an alphanumeric character (e.g. 'example.com', regex used for "
    "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr const char* kLabel1035Problem =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
constexpr const char* kTooLongLabel = "must be no more than 63 characters";
constexpr const char* kTooLongSubdomain = "must be no more than 253 characters";

/// A name in front of which something random is put: its last '-' may stay alone.
std::string without_dash(std::string_view name, bool prefix) {
    std::string text(name);
    if (prefix && text.size() > 1 && text.ends_with('-')) text.back() = 'a';
    return text;
}

Problems label_problems(std::string_view name, bool prefix) {
    const std::string text = without_dash(name, prefix);
    Problems problems;
    if (text.size() > kube::kMaxLabelName) problems.emplace_back(kTooLongLabel);
    if (!kube::is_dns1123_label(text.substr(0, kube::kMaxLabelName)) &&
        !(text.size() > kube::kMaxLabelName && kube::is_dns1123_subdomain(text) &&
          text.find('.') == text.npos))
        problems.emplace_back(kLabelProblem);
    return problems;
}
Problems subdomain_problems(std::string_view name, bool prefix) {
    const std::string text = without_dash(name, prefix);
    if (text.size() > kube::kMaxSubdomain) return {kTooLongSubdomain};
    if (!kube::is_dns1123_subdomain(text)) return {kSubdomainProblem};
    return {};
}
Problems label1035_problems(std::string_view name, bool prefix) {
    const std::string text = without_dash(name, prefix);
    Problems problems;
    if (text.size() > kube::kMaxLabelName) problems.emplace_back(kTooLongLabel);
    if (!kube::has_dns1035_form(text)) problems.emplace_back(kLabel1035Problem);
    return problems;
}
Problems of_text(const std::string& problem) {
    return problem.empty() ? Problems{} : Problems{problem};
}
Problems of_flag(bool good, const char* problem) { return good ? Problems{} : Problems{problem}; }

bool is_uuid(std::string_view text) {
    if (text.size() == 36) {
        for (std::size_t dash : {8u, 13u, 18u, 23u})
            if (text[dash] != '-') return false;
    } else if (text.size() != 32) {
        return false;
    }
    std::size_t digits = 0;
    for (char c : text) {
        if (c == '-') continue;
        if (hex_digit(c) < 0) return false;
        ++digits;
    }
    return digits == 32;
}

struct Format {
    std::string_view name;
    std::size_t longest_pattern;  ///< by which costs are counted
    Problems (*check)(std::string_view text);
};

constexpr std::array<Format, 13> kFormats{{
    {"dns1123Label", 30, [](std::string_view text) { return label_problems(text, false); }},
    {"dns1123Subdomain", 60, [](std::string_view text) { return subdomain_problems(text, false); }},
    {"dns1035Label", 30, [](std::string_view text) { return label1035_problems(text, false); }},
    {"qualifiedName", 60,
     [](std::string_view text) { return of_text(kube::label_key_problem(text)); }},
    {"dns1123LabelPrefix", 30, [](std::string_view text) { return label_problems(text, true); }},
    {"dns1123SubdomainPrefix", 60,
     [](std::string_view text) { return subdomain_problems(text, true); }},
    {"dns1035LabelPrefix", 30,
     [](std::string_view text) { return label1035_problems(text, true); }},
    {"labelValue", 40,
     [](std::string_view text) { return of_text(kube::label_value_problem(text)); }},
    {"uri", 1000,
     [](std::string_view text) {
         const auto url = Url::parse(text);
         return of_text(url ? std::string() : url.error());
     }},
    {"uuid", 90,
     [](std::string_view text) {
         return of_flag(is_uuid(text), "does not match the UUID format");
     }},
    {"byte", 100,
     [](std::string_view text) {
         return of_flag(kube::base64_decode(text).has_value(), "invalid base64");
     }},
    {"date", 120,
     [](std::string_view text) { return of_flag(parse_date(text).has_value(), "invalid date"); }},
    {"datetime", 120,
     [](std::string_view text) {
         return of_flag(parse_timestamp(text).has_value(), "invalid datetime");
     }},
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
