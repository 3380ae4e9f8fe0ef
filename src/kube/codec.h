#pragma once

#include <boost/json/value.hpp>
#include <vector>

#include "base/result.h"
#include "kube/json.h"

namespace muster::kube {

/// JSON of a described struct. Empty strings, lists and maps, null values and unset optionals are
/// left out (Go's omitempty); numbers and bools that must show their zero are optionals.
///
/// The two templates are defined in codec_impl.h and instantiated for the types of this folder in
/// codec.cc, so that a user pays nothing for Boost.Describe. A folder with structs of its own
/// includes codec_impl.h in one .cc.
template <class T>
json::value encode(const T& object);

/// Fills `object` from JSON. Every value of a wrong type is added to `problems` with its field path
/// (`spec.containers[0].ports[1].containerPort`) and skipped; unknown keys go to `rest` where the
/// struct has one and are ignored where not (schema.h finds them).
template <class T>
void decode_into(const json::value& value, T& object, const std::string& path,
                 std::vector<Cause>& problems);

/// decode_into for a whole object; a problem makes it a kBadRequest error with all of them.
template <class T>
Result<T> decode(const json::value& value) {
    T object;
    std::vector<Cause> problems;
    decode_into(value, object, {}, problems);
    if (!problems.empty()) {
        std::string text = problems.front().field + ": " + problems.front().message;
        return Error(Code::kBadRequest, std::move(text)).with_causes(std::move(problems));
    }
    return object;
}

}  // namespace muster::kube
