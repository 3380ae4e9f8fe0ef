#include "kube/values/equality.h"

#include <algorithm>
#include <boost/json/value.hpp>

namespace muster::kube {

bool equal(const json::object& a, const json::object& b) {
    if (a.size() != b.size()) return false;
    // Two states of one object usually have their fields in the same order.
    auto beside = b.begin();
    for (const auto& entry : a) {
        const json::value* other =
            beside->key() == entry.key() ? &beside->value() : b.if_contains(entry.key());
        if (other == nullptr || !equal(entry.value(), *other)) return false;
        ++beside;
    }
    return true;
}

bool equal(const json::value& a, const json::value& b) {
    if (const json::object* object = a.if_object())
        return b.is_object() && equal(*object, b.get_object());
    if (const json::array* array = a.if_array())
        return b.is_array() &&
               std::ranges::equal(*array, b.get_array(),
                                  [](const json::value& left, const json::value& right) {
                                      return equal(left, right);
                                  });
    return a == b;
}

}  // namespace muster::kube
