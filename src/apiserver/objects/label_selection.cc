#include "apiserver/objects/label_selection.h"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <map>

#include "apiserver/objects/json_access.h"
#include "apiserver/objects/text_fields.h"

namespace muster::apiserver {

namespace {

/// In the text form, which has one parser.
Result<std::string> text_of(const json::object& requirement) {
    const std::string_view key = string_at(requirement, "key");
    const std::string_view op = string_at(requirement, "operator");
    if (op == "Exists") return std::string(key);
    if (op == "DoesNotExist") return fmt::format("!{}", key);
    if (op != "In" && op != "NotIn")
        return Error(Code::kBadRequest,
                     fmt::format("\"{}\" is not a valid label selector operator", op));
    return fmt::format("{} {} ({})", key, op == "In" ? "in" : "notin",
                       fmt::join(strings_at(requirement, "values"), ","));
}

std::string requirement_text(std::string_view key, std::string_view op,
                             std::vector<std::string> values) {
    std::ranges::sort(values);
    if (op == "In") return fmt::format("{} in ({})", key, fmt::join(values, ","));
    if (op == "NotIn") return fmt::format("{} notin ({})", key, fmt::join(values, ","));
    if (op == "Exists") return std::string(key);
    if (op == "DoesNotExist") return fmt::format("!{}", key);
    return "<error>";
}

}  // namespace

Result<kube::LabelSelector> label_selector_of(const json::object* selector) {
    if (selector == nullptr) return kube::LabelSelector();
    std::vector<std::string> parts;
    if (const json::object* labels = object_at(*selector, "matchLabels"))
        for (const auto& [key, value] : *labels)
            if (const json::string* text = value.if_string())
                parts.push_back(
                    fmt::format("{}={}", std::string_view(key), std::string_view(*text)));
    if (const json::array* expressions = array_at(*selector, "matchExpressions"))
        for (const json::value& expression : *expressions)
            if (const json::object* requirement = expression.if_object()) {
                TRY(std::string text, text_of(*requirement));
                parts.push_back(std::move(text));
            }
    return kube::LabelSelector::parse(fmt::format("{}", fmt::join(parts, ",")));
}

bool matches_labels(const kube::LabelSelector& selector, const json::object* labels) {
    if (selector.empty()) return true;
    std::string_view found;
    return selector.matches([&](std::string_view key) -> const std::string_view* {
        const json::value* value = labels == nullptr ? nullptr : labels->if_contains(key);
        const json::string* text = value == nullptr ? nullptr : value->if_string();
        if (text == nullptr) return nullptr;
        found = std::string_view(*text);
        return &found;
    });
}

bool matches_labels(const kube::LabelSelector& selector, const store::ObjectText& object) {
    if (selector.empty()) return true;
    if (const kube::ObjectPtr tree = object.tree_in_use())
        return matches_labels(selector, object_at(metadata_of(tree->get_object()), "labels"));
    std::map<std::string, std::string> found;
    each_label(object.text(), [&](std::string_view key, std::string_view value) {
        if (selector.names(key)) found.emplace(key, value);
    });
    return selector.matches(found);
}

std::string labels_text(const json::object* labels) {
    if (labels == nullptr || labels->empty()) return std::string(kNoneText);
    std::vector<std::string> parts;
    for (const auto& [key, value] : *labels)
        parts.push_back(fmt::format("{}={}", std::string_view(key), scalar_text(&value)));
    std::ranges::sort(parts);
    return fmt::format("{}", fmt::join(parts, ","));
}

std::string selector_text(const json::object* selector) {
    if (selector == nullptr) return std::string(kNoneText);
    std::multimap<std::string, std::string> by_key;
    if (const json::object* labels = object_at(*selector, "matchLabels"))
        for (const auto& [key, value] : *labels)
            by_key.emplace(key, fmt::format("{}={}", std::string_view(key), scalar_text(&value)));
    if (const json::array* expressions = array_at(*selector, "matchExpressions"))
        for (const json::value& expression : *expressions)
            if (const json::object* one = expression.if_object())
                by_key.emplace(string_at(*one, "key"),
                               requirement_text(string_at(*one, "key"), string_at(*one, "operator"),
                                                strings_at(*one, "values")));
    std::vector<std::string> parts;
    for (auto& [key, text] : by_key) parts.push_back(std::move(text));
    if (parts.empty()) return std::string(kNoneText);
    return fmt::format("{}", fmt::join(parts, ","));
}

std::string scalar_text(const json::value* value) {
    if (value == nullptr || value->is_null()) return {};
    if (const json::string* text = value->if_string()) return std::string(*text);
    return json::serialize(*value);
}

}  // namespace muster::apiserver
