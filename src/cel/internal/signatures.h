#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "cel/type.h"

namespace muster::cel {

/// One way to call a function. The ids are cel-go's: costs hang on them.
struct Signature {
    std::string_view id;
    bool member = false;  ///< the first argument is the target
    std::vector<Type> arguments;
    Type result;
    bool generic = false;  ///< has parameters
};

struct Function {
    std::string_view name;
    std::vector<Signature> signatures;
};

/// All functions, operators ("_+_") included, that expressions of Kubernetes 1.33 have.
std::span<const Function> functions();
/// Null if there is none of that name.
const Function* find_function(std::string_view name);

/// The type that a name stands for: "int", "google.protobuf.Timestamp"; null if it names none.
const Type* find_type(std::string_view name);

}  // namespace muster::cel
