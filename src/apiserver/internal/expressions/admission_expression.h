#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cel/authorizer.h"
#include "cel/program.h"
#include "kube/values/json.h"

namespace muster::apiserver {

// Expressions about a write: conditions of webhooks, and what policies consist of. Upstream:
// k8s.io/apiserver v0.33, pkg/admission/plugin/cel.

/// What upstream cuts from the ends of expressions and messages.
inline constexpr std::string_view kTextBlanks = " \t\r\n\v\f";

/// The names that an expression may use besides `object`, `oldObject`, `request` and
/// `namespaceObject`.
struct ExpressionScope {
    bool params = false;
    bool authorizer = true;
    cel::DeclarationPtr variables;  ///< of a policy; null: it has none
};

/// A program, or why there is none in upstream's words.
struct AdmissionExpression {
    std::string source;
    std::optional<cel::Program> program;
    std::string problem;  ///< "": none
};

/// `types`: what it may evaluate to; empty: anything.
AdmissionExpression compile_expression(std::string_view source, const ExpressionScope& scope,
                                       std::initializer_list<cel::Type> types);

/// The variables of a policy, each of which may use those before it.
struct PolicyVariables {
    struct Each {
        std::string name;
        AdmissionExpression expression;
    };
    std::vector<Each> all;
    std::map<std::string, std::size_t, std::less<>> places;  ///< in `all`, by name
    std::shared_ptr<cel::Declaration> declaration;           ///< null: there are none
};
/// Adds one that was compiled in the scope of those before it. Of equal names the first counts.
void add_variable(PolicyVariables& variables, std::string name, AdmissionExpression expression);

/// What a write is. All pointers may be null, and outlive the evaluations.
struct WriteInQuestion {
    const json::value* object = nullptr;
    const json::value* before = nullptr;
    json::value request;
    const json::value* params = nullptr;
    const json::value* space = nullptr;  ///< its namespace
    cel::AuthorizationQuestion resource;
};

/// The cost that is left for some expressions.
struct ExpressionBudget {
    std::uint64_t left = 0;
};

/// Evaluates expressions about one write.
class AdmissionEvaluator {
  public:
    /// `at_once`: ends as unfinished when it has cost more.
    AdmissionEvaluator(const WriteInQuestion& write, const PolicyVariables* variables,
                       cel::Authorizer& authorizer, std::uint64_t at_once);
    ~AdmissionEvaluator();

    /// A value, or why there is none. nullopt: the budget is exceeded, or it is unfinished.
    using Evaluated = std::optional<std::expected<cel::Value, std::string>>;
    Evaluated evaluate(const AdmissionExpression& expression, ExpressionBudget& budget);

    /// It cost too much at once, or an answer about rights is missing: nothing that was said counts.
    bool is_unfinished() const { return unfinished_; }

  private:
    class LazyVariables;
    class Rights;

    std::expected<cel::Value, std::string> run(const AdmissionExpression& expression);

    const WriteInQuestion& write_;
    std::unique_ptr<Rights> rights_;
    std::vector<cel::Binding> bindings_;
    std::uint64_t at_once_;
    std::uint64_t spent_ = 0;  ///< by the expression and the variables that it used
    std::size_t depth_ = 0;    ///< of the programs that are being evaluated, together
    bool unfinished_ = false;
    bool question_open_ = false;
};

inline constexpr std::string_view kOutOfBudget =
    "validation failed due to running out of cost budget, no further validation rules will be run";

}  // namespace muster::apiserver
