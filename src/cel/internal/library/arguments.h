#pragma once

#include <span>
#include <string_view>

#include "cel/internal/implementations.h"
#include "cel/value.h"

namespace muster::cel {

/// What a function was called with.
using Arguments = std::span<const Value>;

/// The argument, if there is one of this type; nullptr otherwise.
template <class T>
const T* argument(Arguments arguments, std::size_t index) {
    return index < arguments.size() ? arguments[index].as<T>() : nullptr;
}

}  // namespace muster::cel
