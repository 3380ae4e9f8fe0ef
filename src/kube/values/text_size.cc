#include "kube/values/text_size.h"

namespace muster::kube {

std::size_t text_size(const json::value& value, std::size_t limit) {
    if (const json::string* text = value.if_string()) return text->size() + 2;
    std::size_t size = value.is_structured() ? 2 : 1;
    if (const json::array* array = value.if_array()) {
        for (const json::value& item : *array) {
            if (size > limit) break;
            size += text_size(item, limit - size) + 1;
        }
    } else if (const json::object* object = value.if_object()) {
        for (const auto& entry : *object) {
            if (size > limit) break;
            size += entry.key().size() + text_size(entry.value(), limit - size) + 4;
        }
    }
    return size;
}

}  // namespace muster::kube
