#include "apiserver/internal/printing/cell_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <map>

#include "apiserver/internal/json_access.h"

namespace muster::apiserver {

namespace {

std::string requirement_text(std::string_view key, std::string_view op,
                             std::vector<std::string> values) {
    std::ranges::sort(values);
    if (op == "In") return fmt::format("{} in ({})", key, joined(values));
    if (op == "NotIn") return fmt::format("{} notin ({})", key, joined(values));
    if (op == "Exists") return std::string(key);
    if (op == "DoesNotExist") return fmt::format("!{}", key);
    return "<error>";
}

}  // namespace

std::string age_of(const json::object& object, WallTime now) {
    return age_text(string_at(metadata_of(object), "creationTimestamp"), now);
}

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
    return fmt::format("{}", fmt::join(parts, separator));
}

std::string shortened(const std::vector<std::string>& parts, std::size_t shown,
                      std::string_view empty) {
    if (parts.empty()) return std::string(empty);
    if (parts.size() <= shown) return joined(parts);
    const std::vector<std::string> first(parts.begin(),
                                         parts.begin() + static_cast<std::ptrdiff_t>(shown));
    return fmt::format("{} + {} more...", joined(first), parts.size() - shown);
}

std::string labels_text(const json::object* labels) {
    if (labels == nullptr || labels->empty()) return std::string(kNoneText);
    std::vector<std::string> parts;
    for (const auto& [key, value] : *labels)
        parts.push_back(fmt::format("{}={}", std::string_view(key), scalar_text(&value)));
    std::ranges::sort(parts);
    return joined(parts);
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
    return or_else(joined(parts), kNoneText);
}

std::string scalar_text(const json::value* value) {
    if (value == nullptr || value->is_null()) return {};
    if (const json::string* text = value->if_string()) return std::string(*text);
    return json::serialize(*value);
}

ContainerTexts template_containers(const json::object& spec) {
    std::vector<std::string> names;
    std::vector<std::string> images;
    const json::object* pod = object_at(spec, "template");
    const json::object* pod_spec = pod == nullptr ? nullptr : object_at(*pod, "spec");
    const json::array* containers =
        pod_spec == nullptr ? nullptr : array_at(*pod_spec, "containers");
    if (containers != nullptr)
        for (const json::value& container : *containers)
            if (const json::object* one = container.if_object()) {
                names.emplace_back(string_at(*one, "name"));
                images.emplace_back(string_at(*one, "image"));
            }
    return {joined(names), joined(images)};
}

}  // namespace muster::apiserver
