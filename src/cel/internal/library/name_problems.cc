#include "cel/internal/library/name_problems.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube/values/name_syntax.h"

namespace muster::cel {
namespace {

using Problems = std::vector<std::string>;

constexpr const char* kLabelProblem =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr const char* kSubdomainProblem =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr const char* kLabel1035Problem =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
constexpr const char* kQualifiedNameProblem =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr const char* kLabelValueProblem =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  "
    "or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/// In the order in which Kubernetes names them: the length, then the form.
Problems problems_of(std::string_view text, std::size_t longest, bool has_form, const char* form) {
    Problems problems;
    if (text.size() > longest)
        problems.push_back(fmt::format("must be no more than {} characters", longest));
    if (!has_form) problems.emplace_back(form);
    return problems;
}

}  // namespace

Problems dns1123_label_problems(std::string_view text) {
    const bool only_dots = kube::has_subdomain_form(text);
    return problems_of(text, kube::kMaxLabelName, kube::has_dns1123_form(text),
                       only_dots ? "must not contain dots" : kLabelProblem);
}

Problems dns1123_subdomain_problems(std::string_view text) {
    return problems_of(text, kube::kMaxSubdomain, kube::has_subdomain_form(text),
                       kSubdomainProblem);
}

Problems dns1035_label_problems(std::string_view text) {
    return problems_of(text, kube::kMaxLabelName, kube::has_dns1035_form(text), kLabel1035Problem);
}

Problems label_value_problems(std::string_view text) {
    return problems_of(text, kube::kMaxLabelName, text.empty() || kube::has_label_form(text),
                       kLabelValueProblem);
}

Problems qualified_name_problems(std::string_view text) {
    if (std::ranges::count(text, '/') > 1)
        return {
            fmt::format("a qualified name {} with an optional DNS subdomain prefix and '/' "
                        "(e.g. 'example.com/MyName')",
                        kQualifiedNameProblem)};
    Problems problems;
    const std::size_t slash = text.find('/');
    const std::string_view name = slash == text.npos ? text : text.substr(slash + 1);
    if (slash == 0) problems.emplace_back("prefix part must be non-empty");
    if (slash != 0 && slash != text.npos)
        for (const std::string& problem : dns1123_subdomain_problems(text.substr(0, slash)))
            problems.push_back("prefix part " + problem);
    if (name.empty()) problems.emplace_back("name part must be non-empty");
    for (const std::string& problem :
         problems_of(name, kube::kMaxLabelName, kube::has_label_form(name), kQualifiedNameProblem))
        problems.push_back("name part " + problem);
    return problems;
}

std::string without_trailing_dash(std::string_view prefix) {
    if (prefix.size() < 2 || !prefix.ends_with('-')) return std::string(prefix);
    return std::string(prefix.substr(0, prefix.size() - 2)) + "a";
}

}  // namespace muster::cel
