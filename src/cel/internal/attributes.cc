#include "cel/internal/attributes.h"

namespace muster::cel {
namespace {

bool is_conditional(const Expression& expression) {
    const auto* call = expression.as<Call>();
    return call != nullptr && call->function == "_?_:_";
}

/// In what the last part of an attribute is looked up; null at its root.
const Expression* looked_up_in(const Expression& attribute) {
    if (const auto* select = attribute.as<Select>())
        return select->test ? nullptr : select->operand.get();
    const auto* call = attribute.as<Call>();
    const bool index = call != nullptr && (call->function == "_[_]" || call->function == "_[?_]" ||
                                           call->function == "_?._");
    return index ? call->arguments[0].get() : nullptr;
}

}  // namespace

bool is_attribute(const Expression& expression) {
    return !expression.constant && (expression.as<Identifier>() || is_conditional(expression) ||
                                    looked_up_in(expression) != nullptr);
}

bool begins_with_conditional(const Expression& attribute) {
    const Expression* root = &attribute;
    while (const Expression* inner = is_attribute(*root) ? looked_up_in(*root) : nullptr)
        root = inner;
    return is_conditional(*root);
}

}  // namespace muster::cel
