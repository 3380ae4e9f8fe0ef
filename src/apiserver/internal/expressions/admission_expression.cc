#include "apiserver/internal/expressions/admission_expression.h"

#include <fmt/format.h>

#include <algorithm>

#include "apiserver/internal/expressions/admission_declarations.h"
#include "cel/json_value.h"

namespace muster::apiserver {
namespace {

using Kind = cel::Type::Kind;

/// Upstream's PerCallLimit.
constexpr std::uint64_t kMostOfOneExpression = 1'000'000;

/// Levels that are evaluated at a time, of an expression and of the variables that it needs. Each
/// takes stack, of which Go has more.
constexpr std::size_t kDeepestTogether = 1'500;

std::vector<cel::Variable> names_in(const ExpressionScope& scope) {
    std::vector<cel::Variable> names{
        {"object", Kind::kDyn, nullptr},
        {"oldObject", Kind::kDyn, nullptr},
        {"request", request_declaration()->type(), request_declaration()},
        {"namespaceObject", namespace_declaration()->type(), namespace_declaration()}};
    if (scope.params) names.push_back({"params", Kind::kDyn, nullptr});
    if (scope.authorizer) {
        const std::string prefix = "kubernetes.authorization.";
        names.push_back({"authorizer", cel::Type::opaque(prefix + "Authorizer"), nullptr});
        names.push_back(
            {"authorizer.requestResource", cel::Type::opaque(prefix + "ResourceCheck"), nullptr});
    }
    if (scope.variables) names.push_back({"variables", scope.variables->type(), scope.variables});
    return names;
}

/// As Go's texts have a type; in those of the checker null is "null".
std::string go_text(const cel::Type& type) {
    return type.kind() == Kind::kNull ? "null_type" : type.text();
}

std::string wrong_result_type(std::initializer_list<cel::Type> wanted, const cel::Type& is) {
    if (wanted.size() == 1)
        return fmt::format("must evaluate to {} but got {}", go_text(*wanted.begin()), go_text(is));
    std::string list;
    for (const cel::Type& type : wanted) list += (list.empty() ? "" : " ") + go_text(type);
    return fmt::format("must evaluate to one of [{}] but got {}", list, go_text(is));
}

/// As upstream, all are read_untyped as JSON has them, whatever is declared: times are texts.
cel::Value read_untyped(const json::value* document) {
    if (document == nullptr) return {};
    cel::Outcome value = cel::value_of(*document, nullptr);
    if (value) return *std::move(value);
    return std::make_shared<const cel::Failure>(std::move(value).error());
}

}  // namespace

AdmissionExpression compile_expression(std::string_view source, const ExpressionScope& scope,
                                       std::initializer_list<cel::Type> types) {
    AdmissionExpression made{.source = std::string(source), .program = {}, .problem = {}};
    auto program = cel::Program::compile(source, names_in(scope));
    if (!program) {
        const cel::Issue& first = program.error().front();
        made.problem = first.when_planned
                           ? "program instantiation failed: " + first.message
                           : "compilation failed: " + describe(source, program.error());
    } else if (types.size() > 0 && std::ranges::find(types, program->type()) == types.end()) {
        made.problem = wrong_result_type(types, program->type());
    } else {
        made.program = *std::move(program);
    }
    return made;
}

void add_variable(PolicyVariables& variables, std::string name, AdmissionExpression expression) {
    if (!variables.places.emplace(name, variables.all.size()).second) return;
    if (!variables.declaration) {
        variables.declaration = std::make_shared<cel::Declaration>();
        variables.declaration->form = cel::Declaration::Form::kObject;
        variables.declaration->name = "kubernetes.variables";
    }
    const cel::Type type = expression.program ? expression.program->type() : cel::Type();
    // Those that were compiled before keep the declaration and do not look at it again.
    variables.declaration->fields[name] = {name, declaration_of_type(type)};
    variables.all.push_back({std::move(name), std::move(expression)});
}

/// The authorizer of the evaluations, which notices what can't be answered.
class AdmissionEvaluator::Rights final : public cel::Authorizer {
  public:
    Rights(cel::Authorizer& others, bool& open) : others_(others), open_(open) {}
    std::optional<cel::AuthorizationAnswer> answer(
        const cel::AuthorizationQuestion& question) override {
        auto answer = others_.answer(question);
        open_ |= !answer;
        return answer;
    }

  private:
    cel::Authorizer& others_;
    bool& open_;
};

/// `variables`: each is evaluated when it is first used, and what it costs is paid by the
/// expression that uses it.
class AdmissionEvaluator::LazyVariables final : public cel::Map {
  public:
    LazyVariables(AdmissionEvaluator& evaluator, const PolicyVariables& variables)
        : evaluator_(evaluator), variables_(variables) {}

    std::size_t size() const override { return variables_.all.size(); }
    std::optional<cel::Value> find(const cel::Value& key) const override {
        return key.string() ? field(key.string()->view()) : std::nullopt;
    }
    std::optional<cel::Value> field(std::string_view name) const override {
        const auto place = variables_.places.find(name);
        if (place == variables_.places.end()) return std::nullopt;
        const PolicyVariables::Each& variable = variables_.all[place->second];
        const auto [known, fresh] = values_.try_emplace(variable.name);
        if (fresh) known->second = value_of(variable);
        return known->second;
    }
    void for_each(
        const std::function<bool(const cel::Value&, const cel::Value&)>& visit) const override {
        for (const PolicyVariables::Each& each : variables_.all)
            if (!visit(cel::Value::text(each.name), *field(each.name))) return;
    }
    std::string_view type_name() const override { return "kubernetes.variables"; }

  private:
    cel::Value value_of(const PolicyVariables::Each& variable) const {
        std::string why;
        if (!variable.expression.program) {
            why = "fails to compile: " + variable.expression.problem;
        } else {
            auto value = evaluator_.run(variable.expression);
            if (value) return *std::move(value);
            why = "fails to evaluate: " + value.error();
        }
        return std::make_shared<const cel::Failure>(
            cel::Failure{.text = fmt::format("composited variable \"{}\" {}", variable.name, why)});
    }

    AdmissionEvaluator& evaluator_;
    const PolicyVariables& variables_;
    mutable std::map<std::string, cel::Value, std::less<>> values_;
};

AdmissionEvaluator::AdmissionEvaluator(const WriteInQuestion& write,
                                       const PolicyVariables* variables,
                                       cel::Authorizer& authorizer, std::uint64_t at_once)
    : write_(write),
      rights_(std::make_unique<Rights>(authorizer, question_open_)),
      at_once_(at_once) {
    bindings_ = {
        {"object", read_untyped(write_.object)},
        {"oldObject", read_untyped(write_.before)},
        {"request", read_untyped(&write_.request)},
        {"namespaceObject", read_untyped(write_.space)},
        {"params", read_untyped(write_.params)},
        {"authorizer", cel::authorizer_value(*rights_)},
        {"authorizer.requestResource", cel::resource_check_value(*rights_, write_.resource)}};
    if (variables != nullptr && variables->declaration)
        bindings_.push_back({"variables", std::shared_ptr<const cel::Map>(
                                              std::make_shared<LazyVariables>(*this, *variables))});
}

AdmissionEvaluator::~AdmissionEvaluator() = default;

std::expected<cel::Value, std::string> AdmissionEvaluator::run(
    const AdmissionExpression& expression) {
    const std::size_t deeper = expression.program->depth();
    if (depth_ + deeper > kDeepestTogether)
        return std::unexpected("variables refer to each other too deeply");
    depth_ += deeper;
    const std::uint64_t limit = std::min(kMostOfOneExpression, at_once_);
    auto [outcome, cost] = expression.program->evaluate(bindings_, limit);
    depth_ -= deeper;
    spent_ += cost;
    at_once_ -= std::min(at_once_, cost);
    if (question_open_ || (limit < kMostOfOneExpression && cost > limit)) unfinished_ = true;
    if (outcome) return *std::move(outcome);
    return std::unexpected(std::move(outcome).error().text);
}

AdmissionEvaluator::Evaluated AdmissionEvaluator::evaluate(const AdmissionExpression& expression,
                                                           ExpressionBudget& budget) {
    if (!expression.program) return std::unexpected("compilation error: " + expression.problem);
    spent_ = 0;
    auto value = run(expression);
    if (unfinished_ || spent_ > budget.left) return std::nullopt;
    budget.left -= spent_;
    if (value) return value;
    return std::unexpected(
        fmt::format("expression '{}' resulted in error: {}", expression.source, value.error()));
}

}  // namespace muster::apiserver
