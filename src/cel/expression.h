#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cel/type.h"
#include "cel/value.h"

namespace muster::cel {

struct Signature;

/// A function: evaluated arguments, the target first.
using Implementation = Outcome (*)(std::span<const Value> arguments);

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;

/// What is wrong with an expression, and where: bytes from its start.
struct Issue {
    std::size_t at = 0;
    std::string message;
    /// Of a constant that can't be computed: upstream finds it when it plans an expression that is
    /// right otherwise, and does not show where.
    bool when_planned = false;
};
/// The issues as cel-go prints them, with the line and a mark below it.
std::string describe(std::string_view source, std::vector<Issue> issues);

struct Literal {
    Value value;
};
struct Identifier {
    std::string name;
    bool taken = false;  ///< of an accumulator: its value is not used again before the next step
};
/// `operand.field`, or has(operand.field).
struct Select {
    ExpressionPtr operand;
    std::string field;
    bool test = false;
};
struct Call {
    std::string function;
    ExpressionPtr target;  ///< of a member function, null otherwise
    std::vector<ExpressionPtr> arguments;
};
struct MakeList {
    std::vector<ExpressionPtr> elements;
    std::vector<bool> optional;
};
struct MakeMap {
    struct Entry {
        ExpressionPtr key;
        ExpressionPtr value;
        bool optional = false;
    };
    std::vector<Entry> entries;
};
/// `name{field: value}`. No type that Kubernetes has can be made so; the checker says that.
struct MakeObject {
    std::string type;
};
/// What macros such as all() become: for each element of the range, while the condition holds, the
/// accumulator takes the value of the step.
struct Comprehension {
    ExpressionPtr range;
    std::string variable;
    std::string second_variable;  ///< "": none
    std::string accumulator;
    ExpressionPtr initial;
    ExpressionPtr condition;
    ExpressionPtr step;
    ExpressionPtr result;
};

/// A node of a parsed expression. The checker fills in the second part. Movable only.
struct Expression {
    using Node = std::variant<Literal, Identifier, Select, Call, MakeList, MakeMap, MakeObject,
                              Comprehension>;

    std::size_t at = 0;  ///< bytes from the start of the source
    Node node;
    std::size_t depth = 1;  ///< levels of nodes, this one included

    Type type = Type::Kind::kError;
    /// The signatures that may apply, by their names in cel-go; of a call.
    std::vector<std::string_view> overloads;
    const Signature* signature = nullptr;     ///< if only one may
    Implementation implementation = nullptr;  ///< of a call, but operators that the evaluator knows
    std::optional<Value> constant;            ///< of a name of a type, and of a literal of literals

    template <class T>
    T* as() {
        return std::get_if<T>(&node);
    }
    template <class T>
    const T* as() const {
        return std::get_if<T>(&node);
    }
};

/// Parses, with all macros of Kubernetes 1.33. As upstream at most 100,000 code points and 250
/// levels. The issues are those of the first place that can't be read.
std::expected<ExpressionPtr, std::vector<Issue>> parse(std::string_view source);

}  // namespace muster::cel
