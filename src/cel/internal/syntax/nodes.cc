#include "cel/internal/syntax/nodes.h"

#include <algorithm>

namespace muster::cel {
namespace {

struct Deepest {
    std::size_t depth = 0;

    void look(const ExpressionPtr& child) {
        if (child) depth = std::max(depth, child->depth);
    }
    void operator()(const Literal&) {}
    void operator()(const Identifier&) {}
    void operator()(const MakeObject&) {}
    void operator()(const Select& select) { look(select.operand); }
    void operator()(const Call& call) {
        look(call.target);
        for (const ExpressionPtr& argument : call.arguments) look(argument);
    }
    void operator()(const MakeList& list) {
        for (const ExpressionPtr& element : list.elements) look(element);
    }
    void operator()(const MakeMap& map) {
        for (const MakeMap::Entry& entry : map.entries) {
            look(entry.key);
            look(entry.value);
        }
    }
    void operator()(const Comprehension& fold) {
        for (const ExpressionPtr* part :
             {&fold.range, &fold.initial, &fold.condition, &fold.step, &fold.result})
            look(*part);
    }
};

ExpressionPtr clone(const ExpressionPtr& child) { return child ? clone(*child) : nullptr; }

struct Cloner {
    Expression::Node operator()(const Literal& literal) const { return literal; }
    Expression::Node operator()(const Identifier& identifier) const { return identifier; }
    Expression::Node operator()(const MakeObject& object) const { return object; }
    Expression::Node operator()(const Select& select) const {
        return Select{clone(select.operand), select.field, select.test};
    }
    Expression::Node operator()(const Call& call) const {
        Call copy{call.function, clone(call.target), {}};
        for (const ExpressionPtr& argument : call.arguments)
            copy.arguments.push_back(clone(argument));
        return copy;
    }
    Expression::Node operator()(const MakeList& list) const {
        MakeList copy{{}, list.optional};
        for (const ExpressionPtr& element : list.elements) copy.elements.push_back(clone(element));
        return copy;
    }
    Expression::Node operator()(const MakeMap& map) const {
        MakeMap copy;
        for (const MakeMap::Entry& entry : map.entries)
            copy.entries.push_back({clone(entry.key), clone(entry.value), entry.optional});
        return copy;
    }
    Expression::Node operator()(const Comprehension& fold) const {
        return Comprehension{clone(fold.range), fold.variable,       fold.second_variable,
                             fold.accumulator,  clone(fold.initial), clone(fold.condition),
                             clone(fold.step),  clone(fold.result)};
    }
};

}  // namespace

ExpressionPtr make_node(std::size_t at, Expression::Node node) {
    auto made = std::make_unique<Expression>();
    made->at = at;
    Deepest deepest;
    std::visit(deepest, node);
    made->depth = deepest.depth + 1;
    made->node = std::move(node);
    return made;
}

ExpressionPtr make_identifier(std::size_t at, std::string name) {
    return make_node(at, Identifier{std::move(name)});
}

ExpressionPtr make_literal(std::size_t at, Value value) {
    return make_node(at, Literal{std::move(value)});
}

ExpressionPtr make_call(std::size_t at, std::string function,
                        std::vector<ExpressionPtr> arguments) {
    return make_node(at, Call{std::move(function), nullptr, std::move(arguments)});
}

ExpressionPtr clone(const Expression& expression) {
    return make_node(expression.at, std::visit(Cloner{}, expression.node));
}

}  // namespace muster::cel
