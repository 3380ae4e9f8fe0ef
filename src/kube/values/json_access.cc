#include "kube/values/json_access.h"

namespace muster::kube {

std::vector<const json::object*> objects_at(const json::object& parent, std::string_view key) {
    std::vector<const json::object*> objects;
    if (const json::array* list = array_at(parent, key))
        for (const json::value& item : *list)
            if (const json::object* object = item.if_object()) objects.push_back(object);
    return objects;
}

std::vector<std::string> strings_at(const json::object& parent, std::string_view key) {
    std::vector<std::string> strings;
    if (const json::array* list = array_at(parent, key))
        for (const json::value& item : *list)
            if (const json::string* text = item.if_string()) strings.emplace_back(*text);
    return strings;
}

const json::value* value_at_path(const json::object& object, std::string_view dotted) {
    const json::object* parent = &object;
    while (true) {
        const std::size_t dot = dotted.find('.');
        const json::value* value = parent->if_contains(dotted.substr(0, dot));
        if (value == nullptr || dot == std::string_view::npos) return value;
        parent = value->if_object();
        if (parent == nullptr) return nullptr;
        dotted.remove_prefix(dot + 1);
    }
}

}  // namespace muster::kube
