#include "apiserver/internal/pod_validation/value_checks.h"

#include <algorithm>
#include <limits>

#include "apiserver/internal/pod_validation/name_checks.h"
#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {

constexpr std::size_t kMostPortName = 15;

bool is_lower_alnum(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

void check_requirement(const json::object& requirement, const std::string& field,
                       FieldErrors& field_errors) {
    const std::string_view wanted = string_at(requirement, "operator");
    const json::array* values = array_at(requirement, "values");
    const bool some = values != nullptr && !values->empty();
    if (wanted == "In" || wanted == "NotIn") {
        if (!some)
            field_errors.push_back(required(
                field + ".values", "must be specified when `operator` is 'In' or 'NotIn'"));
    } else if (wanted == "Exists" || wanted == "DoesNotExist") {
        if (some)
            field_errors.push_back(
                forbidden_field(field + ".values",
                                "may not be specified when `operator` is 'Exists' or "
                                "'DoesNotExist'"));
    } else {
        field_errors.push_back(invalid_value(field + ".operator", json::value(wanted),
                                             "not a valid selector operator"));
    }
    check_qualified_name(string_at(requirement, "key"), field + ".key", field_errors);
    const std::vector<std::string> texts = strings_at(requirement, "values");
    for (std::size_t i = 0; i < texts.size(); ++i)
        check_label_value(texts[i], fmt::format("{}.values[{}]", field, i), field_errors);
}

}  // namespace

void check_range(const json::object& object, std::string_view key, std::int64_t least,
                 std::int64_t most, const std::string& in, FieldErrors& field_errors) {
    const auto number = int_at(object, key);
    if (number && (*number < least || *number > most))
        field_errors.push_back(
            invalid_value(fmt::format("{}.{}", in, key), json::value(*number),
                          fmt::format("must be between {} and {}, inclusive", least, most)));
}

void check_at_least_zero(const json::object& object, std::string_view key, const std::string& in,
                         FieldErrors& field_errors) {
    const auto number = int_at(object, key);
    if (number && *number < 0)
        field_errors.push_back(invalid_value(fmt::format("{}.{}", in, key), json::value(*number),
                                             "must be greater than or equal to 0"));
}

void check_port_name(std::string_view name, const std::string& field, FieldErrors& field_errors) {
    const auto refuse = [&](std::string_view why) {
        field_errors.push_back(invalid_value(field, json::value(name), why));
    };
    if (name.size() > kMostPortName) refuse("must be no more than 15 characters");
    const bool known =
        std::ranges::all_of(name, [](char c) { return is_lower_alnum(c) || c == '-'; });
    if (!known || name.empty())
        refuse("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
    if (std::ranges::none_of(name, [](char c) { return c >= 'a' && c <= 'z'; }))
        refuse("must contain at least one letter (a-z)");
    if (name.find("--") != std::string_view::npos) refuse("must not contain consecutive hyphens");
    if (!name.empty() && (name.front() == '-' || name.back() == '-'))
        refuse("must not begin or end with a hyphen");
}

void check_port(std::int64_t number, const std::string& field, FieldErrors& field_errors) {
    if (number < 1 || number > kMostPort)
        field_errors.push_back(
            invalid_value(field, json::value(number), "must be between 1 and 65535, inclusive"));
}

void check_port_or_name(const json::object& object, const std::string& in,
                        FieldErrors& field_errors) {
    const json::value* port = object.if_contains("port");
    const std::string field = in + ".port";
    if (port != nullptr && port->is_string()) {
        check_port_name(std::string_view(port->get_string()), field, field_errors);
        return;
    }
    check_port(int_at(object, "port").value_or(0), field, field_errors);
}

void check_choice(const json::object& object, std::string_view key,
                  const std::vector<std::string_view>& choices, const std::string& in,
                  FieldErrors& field_errors) {
    const json::value* value = object.if_contains(key);
    if (value == nullptr || !value->is_string()) return;
    const std::string_view text = value->get_string();
    if (std::ranges::find(choices, text) == choices.end())
        field_errors.push_back(not_supported(fmt::format("{}.{}", in, key), text, choices));
}

bool has_backstep(std::string_view path) {
    while (true) {
        const std::size_t slash = path.find('/');
        if (path.substr(0, slash) == "..") return true;
        if (slash == std::string_view::npos) return false;
        path.remove_prefix(slash + 1);
    }
}

void check_no_backstep(std::string_view path, const std::string& field, FieldErrors& field_errors) {
    if (has_backstep(path))
        field_errors.push_back(invalid_value(field, json::value(path), "must not contain '..'"));
}

void check_descending_path(std::string_view path, const std::string& field,
                           FieldErrors& field_errors) {
    if (path.starts_with('/'))
        field_errors.push_back(invalid_value(field, json::value(path), "must be a relative path"));
    check_no_backstep(path, field, field_errors);
}

void check_label_map(const json::object& labels, const std::string& field,
                     FieldErrors& field_errors) {
    for (const auto& [key, value] : labels) {
        check_qualified_name(key, field, field_errors);
        if (const json::string* text = value.if_string())
            check_label_value(*text, field, field_errors);
    }
}

void check_label_selector(const json::object& selector, const std::string& field,
                          FieldErrors& field_errors) {
    check_label_map(child(selector, "matchLabels"), field + ".matchLabels", field_errors);
    const auto requirements = objects_at(selector, "matchExpressions");
    for (std::size_t i = 0; i < requirements.size(); ++i)
        check_requirement(*requirements[i], fmt::format("{}.matchExpressions[{}]", field, i),
                          field_errors);
}

}  // namespace muster::apiserver
