#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cel/declaration.h"
#include "cel/expression.h"
#include "cel/type.h"
#include "cel/value.h"

namespace muster::cel {

/// A name that expressions may use.
struct Variable {
    std::string name;
    Type type;
    /// How long its parts can be, for estimates; null: not known.
    DeclarationPtr declaration;
};

/// What a variable is in one evaluation.
struct Binding {
    std::string_view name;
    Value value;
};

/// An expression that can be evaluated. Immutable, any thread.
class Program {
  public:
    /// Parses and checks; all issues, none: a program.
    static std::expected<Program, std::vector<Issue>> compile(std::string_view source,
                                                              std::span<const Variable> variables);

    const Type& type() const { return root_->type; }
    /// Levels of its tree: an evaluation takes stack for each.
    std::size_t depth() const { return root_->depth; }
    /// Whether the expression names this variable.
    bool uses(std::string_view variable) const { return uses(*root_, variable); }

    struct Evaluation {
        Outcome outcome;
        std::uint64_t cost = 0;
    };
    /// Ends with a failure that is over the limit as soon as it costs more. What is not bound fails
    /// where it is used.
    Evaluation evaluate(std::span<const Binding> variables, std::uint64_t limit) const;

    /// The most that an evaluation may cost, as upstream estimates it.
    std::uint64_t most_cost() const { return most_cost_; }

  private:
    explicit Program(ExpressionPtr root) : root_(std::move(root)) {}
    static bool uses(const Expression& expression, std::string_view variable);

    std::shared_ptr<const Expression> root_;
    std::vector<DeclarationPtr> declarations_;  ///< types refer to them
    std::uint64_t most_cost_ = 0;
};

}  // namespace muster::cel
