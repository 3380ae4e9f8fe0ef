#pragma once

#include "cel/internal/library/arguments.h"

namespace muster::cel {

/// What `part` says of the first argument, if it is a value of this type.
template <class T, class Part>
Outcome part_of(Arguments arguments, Part part) {
    const T* value = arguments.empty() ? nullptr : arguments[0].opaque<T>();
    if (value == nullptr) return no_such_overload();
    return part(*value);
}

}  // namespace muster::cel
