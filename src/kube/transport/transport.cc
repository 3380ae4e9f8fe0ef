#include "kube/transport/transport.h"

namespace muster::kube {

std::string_view Request::query_value(std::string_view key) const {
    for (const auto& [name, value] : query)
        if (name == key) return value;
    return {};
}

}  // namespace muster::kube
