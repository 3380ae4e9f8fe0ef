#include "cel/internal/syntax/macros.h"

#include <algorithm>

#include "cel/internal/syntax/nodes.h"

namespace muster::cel {
namespace {

using Expanded = std::expected<ExpressionPtr, Issue>;
using Operands = std::vector<ExpressionPtr>;

/// No source can name it.
constexpr const char* kAccumulator = "@result";
/// The name that cel-go gives it, which no variable may have.
constexpr const char* kPublicAccumulator = "__result__";

constexpr const char* kTarget = "@target";

ExpressionPtr accumulator(std::size_t at) { return make_identifier(at, kAccumulator); }

/// The accumulator before it gets its next value: nothing else holds it, so it may be changed in
/// place.
ExpressionPtr taken_accumulator(std::size_t at) {
    return make_node(at, Identifier{kAccumulator, true});
}

ExpressionPtr list_of(std::size_t at, ExpressionPtr element) {
    MakeList list;
    list.elements.push_back(std::move(element));
    list.optional.push_back(false);
    return make_node(at, std::move(list));
}
ExpressionPtr empty_list(std::size_t at) { return make_node(at, MakeList{}); }

const std::string* name_of(const Expression& expression) {
    const auto* identifier = expression.as<Identifier>();
    return identifier ? &identifier->name : nullptr;
}

/// The variables of a macro, which are its first arguments.
struct Variables {
    std::string first;
    std::string second;
};

std::expected<Variables, Issue> variables_of(const Operands& arguments, bool two,
                                             const char* not_a_name) {
    Variables variables;
    for (std::size_t i = 0; i < (two ? 2u : 1u); ++i) {
        const std::string* name = name_of(*arguments[i]);
        if (name == nullptr) return std::unexpected(Issue{arguments[i]->at, not_a_name});
        if (*name == kPublicAccumulator)
            return std::unexpected(
                Issue{arguments[i]->at, "iteration variable overwrites accumulator variable"});
        (i == 0 ? variables.first : variables.second) = *name;
    }
    if (two && variables.first == variables.second)
        return std::unexpected(
            Issue{arguments[1]->at, "duplicate variable name: " + variables.second});
    return variables;
}

struct Fold {
    ExpressionPtr initial;
    ExpressionPtr condition;
    ExpressionPtr step;
    ExpressionPtr result;
};

Expanded fold_over(std::size_t at, ExpressionPtr& range, Variables variables, Fold fold) {
    return make_node(
        at, Comprehension{std::move(range), std::move(variables.first), std::move(variables.second),
                          kAccumulator, std::move(fold.initial), std::move(fold.condition),
                          std::move(fold.step), std::move(fold.result)});
}

/// all, exists, exists_one.
Expanded quantifier(std::size_t at, std::string_view function, ExpressionPtr& target,
                    Operands& arguments) {
    const bool two = arguments.size() == 3;
    auto variables = variables_of(arguments, two, "argument must be a simple name");
    if (!variables) return std::unexpected(variables.error());
    ExpressionPtr predicate = std::move(arguments.back());
    Fold fold;
    if (function == "all") {
        fold.initial = make_literal(at, true);
        fold.condition = make_call(at, "@not_strictly_false", accumulator(at));
        fold.step = make_call(at, "_&&_", accumulator(at), std::move(predicate));
        fold.result = accumulator(at);
    } else if (function == "exists") {
        fold.initial = make_literal(at, false);
        fold.condition = make_call(at, "@not_strictly_false", make_call(at, "!_", accumulator(at)));
        fold.step = make_call(at, "_||_", accumulator(at), std::move(predicate));
        fold.result = accumulator(at);
    } else {
        fold.initial = make_literal(at, std::int64_t{0});
        fold.condition = make_literal(at, true);
        fold.step =
            make_call(at, "_?_:_", std::move(predicate),
                      make_call(at, "_+_", accumulator(at), make_literal(at, std::int64_t{1})),
                      accumulator(at));
        fold.result = make_call(at, "_==_", accumulator(at), make_literal(at, std::int64_t{1}));
    }
    return fold_over(at, target, *std::move(variables), std::move(fold));
}

/// map, filter, transformList: `step` for the elements for which the filter (null: all) holds.
Expanded collect(std::size_t at, ExpressionPtr& target, Variables variables, ExpressionPtr filter,
                 ExpressionPtr initial, ExpressionPtr step) {
    if (filter) step = make_call(at, "_?_:_", std::move(filter), std::move(step), accumulator(at));
    return fold_over(at, target, std::move(variables),
                     {.initial = std::move(initial),
                      .condition = make_literal(at, true),
                      .step = std::move(step),
                      .result = accumulator(at)});
}

Expanded to_list(std::size_t at, ExpressionPtr& target, Operands& arguments, bool two,
                 bool filters) {
    auto variables = variables_of(arguments, two, "argument is not an identifier");
    if (!variables) return std::unexpected(variables.error());
    const std::size_t first = two ? 2 : 1;
    ExpressionPtr element = filters ? clone(*arguments[0]) : std::move(arguments.back());
    ExpressionPtr filter;
    if (filters || arguments.size() == first + 2) filter = std::move(arguments[first]);
    return collect(at, target, *std::move(variables), std::move(filter), empty_list(at),
                   make_call(at, "_+_", taken_accumulator(at), list_of(at, std::move(element))));
}

Expanded to_map(std::size_t at, ExpressionPtr& target, Operands& arguments, bool entries) {
    auto variables = variables_of(arguments, true, "argument must be a simple name");
    if (!variables) return std::unexpected(variables.error());
    ExpressionPtr element = std::move(arguments.back());
    ExpressionPtr filter;
    if (arguments.size() == 4) filter = std::move(arguments[2]);
    ExpressionPtr step =
        entries ? make_call(at, "cel.@mapInsert", taken_accumulator(at), std::move(element))
                : make_call(at, "cel.@mapInsert", taken_accumulator(at),
                            make_identifier(at, variables->first), std::move(element));
    return collect(at, target, *std::move(variables), std::move(filter), make_node(at, MakeMap{}),
                   std::move(step));
}

/// `result` with a variable that has this value.
ExpressionPtr bind(std::size_t at, std::string variable, ExpressionPtr value,
                   ExpressionPtr result) {
    ExpressionPtr step = make_identifier(at, variable);
    return make_node(at, Comprehension{empty_list(at),
                                       "#unused",
                                       {},
                                       std::move(variable),
                                       std::move(value),
                                       make_literal(at, false),
                                       std::move(step),
                                       std::move(result)});
}

/// optMap and optFlatMap: the expression with the value, if there is one. cel-go writes the target
/// twice, which grows without bound when such calls are chained.
Expanded of_optional(std::size_t at, ExpressionPtr& target, Operands& arguments, bool flat) {
    const std::string* name = name_of(*arguments[0]);
    if (name == nullptr)
        return std::unexpected(
            Issue{arguments[0]->at, std::string(flat ? "optFlatMap" : "optMap") +
                                        "() variable name must be a simple identifier"});
    auto member = [&](const char* function) {
        return make_node(at, Call{function, make_identifier(at, kTarget), {}});
    };
    ExpressionPtr mapped = bind(at, *name, member("value"), std::move(arguments[1]));
    if (!flat) mapped = make_call(at, "optional.of", std::move(mapped));
    ExpressionPtr chosen = make_call(at, "_?_:_", member("hasValue"), std::move(mapped),
                                     make_call(at, "optional.none", Operands{}));
    return bind(at, kTarget, std::move(target), std::move(chosen));
}

Expanded has(std::size_t at, Operands& arguments) {
    auto* select = arguments[0]->as<Select>();
    if (select == nullptr)
        return std::unexpected(Issue{arguments[0]->at, "invalid argument to has() macro"});
    return make_node(at, Select{std::move(select->operand), std::move(select->field), true});
}

/// Those of a list or a map, which is the target.
std::optional<Expanded> comprehension(std::size_t at, std::string_view function,
                                      ExpressionPtr& target, Operands& arguments) {
    const std::size_t count = arguments.size();
    const bool quantifies = function == "all" || function == "exists" || function == "exists_one" ||
                            function == "existsOne";
    // Of two variables there is only existsOne.
    if (quantifies && (count == 2 || (count == 3 && function != "exists_one")))
        return quantifier(at, function, target, arguments);
    if (function == "map" && (count == 2 || count == 3))
        return to_list(at, target, arguments, false, false);
    if (function == "filter" && count == 2) return to_list(at, target, arguments, false, true);
    if (count != 3 && count != 4) return std::nullopt;
    if (function == "transformList") return to_list(at, target, arguments, true, false);
    if (function == "transformMap") return to_map(at, target, arguments, false);
    if (function == "transformMapEntry") return to_map(at, target, arguments, true);
    return std::nullopt;
}

}  // namespace

std::optional<Expanded> expand_macro(std::size_t at, std::string_view function,
                                     ExpressionPtr& target, Operands& arguments) {
    if (!target) {
        if (function == "has" && arguments.size() == 1) return has(at, arguments);
        return std::nullopt;
    }
    if ((function == "optMap" || function == "optFlatMap") && arguments.size() == 2)
        return of_optional(at, target, arguments, function == "optFlatMap");
    return comprehension(at, function, target, arguments);
}

}  // namespace muster::cel
