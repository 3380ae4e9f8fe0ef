#include "apiserver/internal/label_selection.h"

#include "apiserver/internal/json_access.h"

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

}  // namespace muster::apiserver
