#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cel/expression.h"

namespace muster::cel {

/// With its depth.
ExpressionPtr make_node(std::size_t at, Expression::Node node);
ExpressionPtr make_identifier(std::size_t at, std::string name);
ExpressionPtr make_literal(std::size_t at, Value value);
ExpressionPtr make_call(std::size_t at, std::string function, std::vector<ExpressionPtr> arguments);
template <class... Arguments>
ExpressionPtr make_call(std::size_t at, std::string function, ExpressionPtr first,
                        Arguments... others) {
    std::vector<ExpressionPtr> arguments;
    arguments.push_back(std::move(first));
    (arguments.push_back(std::move(others)), ...);
    return make_call(at, std::move(function), std::move(arguments));
}

/// What was parsed, not what the checker found.
ExpressionPtr clone(const Expression& expression);

}  // namespace muster::cel
