#include "kube/transport/transport_names.h"

#include <utility>

namespace muster::kube {

namespace {

constexpr std::pair<Method, std::string_view> kMethods[] = {{Method::kGet, "GET"},
                                                            {Method::kPost, "POST"},
                                                            {Method::kPut, "PUT"},
                                                            {Method::kPatch, "PATCH"},
                                                            {Method::kDelete, "DELETE"}};
constexpr std::pair<WatchEventType, std::string_view> kEventTypes[] = {
    {WatchEventType::kAdded, "ADDED"},
    {WatchEventType::kModified, "MODIFIED"},
    {WatchEventType::kDeleted, "DELETED"},
    {WatchEventType::kBookmark, "BOOKMARK"},
    {WatchEventType::kError, "ERROR"}};

template <class Value, std::size_t kSize>
std::string_view name_in(const std::pair<Value, std::string_view> (&table)[kSize], Value value) {
    for (const auto& [known, name] : table)
        if (known == value) return name;
    return "?";
}

template <class Value, std::size_t kSize>
std::optional<Value> value_in(const std::pair<Value, std::string_view> (&table)[kSize],
                              std::string_view name) {
    for (const auto& [known, known_name] : table)
        if (known_name == name) return known;
    return std::nullopt;
}

}  // namespace

std::string_view method_name(Method method) { return name_in(kMethods, method); }

std::optional<Method> method_of(std::string_view name) { return value_in(kMethods, name); }

std::string_view event_type_name(WatchEventType type) { return name_in(kEventTypes, type); }

std::optional<WatchEventType> event_type_of(std::string_view name) {
    return value_in(kEventTypes, name);
}

}  // namespace muster::kube
