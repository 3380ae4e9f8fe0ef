#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cel/expression.h"
#include "cel/program.h"

namespace muster::cel {

/// One evaluation of a checked expression.
class Evaluator {
  public:
    Evaluator(std::span<const Binding> variables, std::uint64_t limit);

    Outcome evaluate(const Expression& expression);
    std::uint64_t cost() const { return cost_; }

  private:
    /// A variable. An accumulator may be a failure: another element can make it good again.
    struct Slot {
        std::string_view name;
        Outcome value;
    };

    Outcome visit(const Expression& at, const Literal& literal);
    Outcome visit(const Expression& at, const Identifier& identifier);
    Outcome visit(const Expression& at, const Select& select);
    Outcome visit(const Expression& at, const Call& call);
    Outcome visit(const Expression& at, const MakeList& list);
    Outcome visit(const Expression& at, const MakeMap& map);
    Outcome visit(const Expression& at, const MakeObject& object);
    Outcome visit(const Expression& at, const Comprehension& fold);

    /// What is looked up, and how.
    struct LookUp {
        bool field;     ///< a name in the expression, no index or key
        bool optional;  ///< it may be missing
        bool test;      ///< has()
    };

    Outcome whole(const Expression& expression);
    Outcome part_of_another(const Expression& expression);
    Outcome look_up(const Value& operand, const Value& key, LookUp how);
    Outcome logical(const Call& call, bool decides);
    Outcome conditional(const Call& call);
    Outcome or_else(const Call& call);
    Outcome access(const Call& call);
    Outcome strict_call(const Expression& at, const Call& call);
    Outcome carry_out(const Expression& at, const Call& call, std::string_view overload,
                      std::span<const Value> arguments);
    Outcome list_of(const MakeList& list);
    Outcome map_of(const MakeMap& map);
    std::expected<std::optional<Value>, Failure> entry(const Expression& source, bool optional,
                                                       std::string_view what);
    Outcome extend(const Call& call, std::vector<Value> arguments);
    Outcome fold_over(const Comprehension& fold, const Value& range);
    Outcome step(const Comprehension& fold, std::size_t accumulator);
    Slot* find(std::string_view name);

    /// Adds to the cost; a failure beyond the limit.
    std::expected<void, Failure> charge(std::uint64_t cost);

    std::vector<Slot> slots_;
    std::uint64_t cost_ = 0;
    std::uint64_t limit_;
    ComparisonLimit comparisons_;
};

}  // namespace muster::cel
