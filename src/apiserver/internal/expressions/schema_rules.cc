#include "apiserver/internal/expressions/schema_rules.h"

#include <fmt/format.h>

#include "apiserver/internal/expressions/rule_check.h"
#include "apiserver/internal/expressions/schema_declaration.h"
#include "cel/cost.h"
#include "kube/values/field_path.h"

namespace muster::apiserver {
namespace {

using Node = SchemaRules::Node;
using Rule = SchemaRules::Rule;
using SchemaType = kube::Schema::Type;

// Upstream's figures: apiextensions validation.go.
constexpr std::uint64_t kMostRuleCost = 10'000'000;
constexpr std::uint64_t kMostTotalCost = 100'000'000;
/// Units of cost that take about as long as others may wait.
constexpr std::uint64_t kCostly = 50'000;

std::string over_budget(std::string_view what, std::uint64_t cost, std::uint64_t budget) {
    const double times = static_cast<double>(cost) / static_cast<double>(budget);
    std::string factor = fmt::format("{:.1f}x", times);
    if (times > 100) factor = "more than 100x";
    if (times < 1.5) factor = fmt::format("{:f}x", times);
    return fmt::format(
        "{} exceeds budget by factor of {} (try simplifying the rule, or adding "
        "maxItems, maxProperties, and maxLength where arrays, maps, and strings are "
        "declared)",
        what, factor);
}

/// Upstream's texts for what it finds when it compiles an expression, and when it plans it.
std::string problem(std::string_view compiled, std::string_view planned, std::string_view source,
                    const std::vector<cel::Issue>& issues) {
    if (issues.front().when_planned)
        return fmt::format("{}instantiation failed: {}", planned, issues.front().message);
    return fmt::format("{}compilation failed: {}", compiled, describe(source, issues));
}

/// Where a part of a schema stands, and how often what it describes can be in an object.
struct Place {
    std::string path;
    /// Nothing: some list or map above has no bound.
    std::optional<std::uint64_t> count = 1;
    /// Of the part above which elements of two states of an object can't be matched; "": none.
    std::string uncorrelatable;

    Place property(std::string_view name) const {
        return {kube::child_path(path + ".properties", name), count, uncorrelatable};
    }
    Place elements(std::string_view key, std::optional<std::size_t> most, bool matched) const {
        Place inner{path + "." + std::string(key), std::nullopt, uncorrelatable};
        if (count && most) inner.count = cel::bounded_product(*count, *most);
        if (inner.uncorrelatable.empty() && !matched) inner.uncorrelatable = path;
        return inner;
    }
};

class Compiler {
  public:
    explicit Compiler(FieldErrors& problems) : problems_(problems) {}

    /// Of a schema with rules in it. Null if none of them stands.
    std::unique_ptr<Node> compile(const kube::Schema::Ptr& schema,
                                  const cel::DeclarationPtr& declaration, const Place& place) {
        auto node = std::make_unique<Node>();
        node->schema = schema;
        node->declaration = declaration;
        compile_properties(*node, place);
        compile_elements(*node, place);
        for (std::size_t i = 0; i < schema->rules.size(); ++i)
            compile_rule(*node, place,
                         fmt::format("{}.x-kubernetes-validations[{}]", place.path, i),
                         schema->rules[i]);
        const bool empty = node->rules.empty() && node->properties.empty() && !node->elements;
        return empty ? nullptr : std::move(node);
    }
    std::uint64_t total() const { return total_; }

  private:
    void compile_properties(Node& node, const Place& place) {
        for (const auto& [name, property] : node.schema->properties) {
            if (!property->has_rules()) continue;
            cel::DeclarationPtr declaration;
            if (node.declaration)
                if (const auto* field = node.declaration->field(cel::escape(name)))
                    declaration = field->declaration;
            // A name that CEL can't write has rules of its own all the same.
            if (declaration == nullptr)
                declaration = declaration_of(*property, property->embedded_resource, "self");
            if (auto child = compile(property, declaration, place.property(name)))
                node.properties.emplace(name, std::move(child));
        }
    }
    void compile_elements(Node& node, const Place& place) {
        const kube::Schema& schema = *node.schema;
        const bool list = schema.type == SchemaType::kArray;
        const kube::Schema::Ptr& element = list ? schema.items : schema.additional;
        if (element == nullptr || !element->has_rules()) return;
        const bool matched =
            list ? schema.list_type == kube::Schema::ListType::kMap : !schema.atomic;
        const Place below =
            place.elements(list ? "items" : "additionalProperties",
                           list ? schema.max_items : schema.max_properties, matched);
        cel::DeclarationPtr declaration;
        if (node.declaration) declaration = node.declaration->element;
        node.elements = compile(element, declaration, below);
    }

    void compile_rule(Node& node, const Place& place, const std::string& path,
                      const kube::Schema::Rule& source) {
        if (node.declaration == nullptr) {
            problems_.push_back(forbidden_field(
                path, "rules can't see a part that may be anything: give its schema a type"));
            return;
        }
        const cel::Type self = node.declaration->type();
        const cel::Variable variables[] = {
            {"self", self, node.declaration},
            {"oldSelf", source.optional_old_self ? cel::Type::optional(self) : self,
             node.declaration}};
        auto program = cel::Program::compile(source.rule, variables);
        if (!program)
            return refuse(path + ".rule", source,
                          problem("", "program ", source.rule, program.error()));
        if (!(program->type() == cel::Type(cel::Type::Kind::kBool)))
            return refuse(path + ".rule", source, "cel expression must evaluate to a bool");
        charge(path + ".rule", "estimated rule cost", times_of(node, place, program->most_cost()));
        Rule rule{.source = source, .program = *std::move(program), .message = {}};
        rule.uses_old = rule.program.uses("oldSelf");
        if (rule.uses_old && !place.uncorrelatable.empty())
            problems_.push_back(invalid_value(
                path + ".rule", json::value(source.rule),
                "oldSelf cannot be used on the uncorrelatable portion of the schema within " +
                    place.uncorrelatable));
        if (!rule.uses_old && source.says_optional_old_self)
            problems_.push_back(invalid_value(path + ".optionalOldSelf",
                                              json::value(source.optional_old_self),
                                              "may not be set if oldSelf is not used in rule"));
        compile_message(rule, path + ".messageExpression", variables);
        node.rules.push_back(std::move(rule));
    }
    void compile_message(Rule& rule, const std::string& path,
                         std::span<const cel::Variable> variables) {
        const std::string& source = rule.source.message_expression;
        if (source.empty()) return;
        auto program = cel::Program::compile(source, variables);
        if (!program)
            return refuse(
                path, rule.source,
                problem("messageExpression ", "messageExpression ", source, program.error()));
        if (!(program->type() == cel::Type(cel::Type::Kind::kString)))
            return refuse(path, rule.source, "messageExpression must evaluate to a string");
        charge(path, "estimated messageExpression cost", program->most_cost());
        rule.message = *std::move(program);
    }

    void refuse(const std::string& path, const kube::Schema::Rule& rule, std::string_view why) {
        problems_.push_back(invalid_value(path, json::value(rule.rule), why));
    }
    void charge(const std::string& path, std::string_view what, std::uint64_t cost) {
        total_ = cel::bounded_sum(total_, cost);
        if (cost > kMostRuleCost)
            problems_.push_back(forbidden_field(path, over_budget(what, cost, kMostRuleCost)));
    }
    /// What a rule costs as often as its part can be in an object.
    static std::uint64_t times_of(const Node& node, const Place& place, std::uint64_t cost) {
        if (place.count) return cel::bounded_product(cost, *place.count);
        const std::int64_t smallest = node.declaration->min_serialized_size + 1;
        return cel::bounded_product(cost, static_cast<std::uint64_t>(kLargestRequest / smallest));
    }

    FieldErrors& problems_;
    std::uint64_t total_ = 0;
};

}  // namespace

std::shared_ptr<const SchemaRules> SchemaRules::compile(const kube::Schema::Ptr& schema,
                                                        const std::string& path,
                                                        FieldErrors& problems) {
    if (!schema->has_rules()) return nullptr;
    Compiler compiler(problems);
    auto rules = std::make_shared<SchemaRules>();
    rules->root_ = compiler.compile(schema, declaration_of(*schema, true, "self"),
                                    {.path = path, .count = 1, .uncorrelatable = {}});
    rules->most_cost_ = compiler.total();
    if (compiler.total() > kMostTotalCost)
        problems.push_back(forbidden_field(
            path, over_budget("x-kubernetes-validations estimated rule cost total for entire "
                              "OpenAPIv3 schema",
                              compiler.total(), kMostTotalCost)));
    return rules;
}

bool SchemaRules::is_costly() const { return most_cost_ > kCostly; }

void SchemaRules::check(const json::value& object, const json::value* before,
                        FieldErrors& field_errors) const {
    if (root_) check_rules(*root_, object, before, field_errors);
}

}  // namespace muster::apiserver
