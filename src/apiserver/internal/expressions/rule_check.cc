#include "apiserver/internal/expressions/rule_check.h"

#include <fmt/format.h>

#include "base/trimmed.h"
#include "cel/json_value.h"
#include "kube/schema/correlation.h"
#include "kube/values/equality.h"
#include "kube/values/field_path.h"

namespace muster::apiserver {
namespace {

using Node = SchemaRules::Node;
using Rule = SchemaRules::Rule;

// Upstream's figures: k8s.io/apiserver v0.33, pkg/apis/cel/config.go.
constexpr std::uint64_t kMostCallCost = 1'000'000;
constexpr std::uint64_t kBudget = 10'000'000;
constexpr std::size_t kLongestMessage = 5 * 1024;
constexpr std::string_view kBlanks = " \t\r\n";

/// A part of an object and of its stored state.
struct Part {
    std::string path;
    const json::value* now = nullptr;
    const json::value* before = nullptr;  ///< null: there is none that could be matched
    /// The nearest part above that has a state before, for parts that have none.
    const json::value* above = nullptr;
    const json::value* above_before = nullptr;

    /// Whether it may be what it was, though a rule is broken now.
    bool is_unchanged() const {
        if (before != nullptr) return kube::equal(*now, *before);
        return above_before != nullptr && kube::equal(*above, *above_before);
    }
    Part child(std::string inner, const json::value& value, const json::value* old) const {
        const bool matched = before != nullptr;
        return {std::move(inner), &value, old, matched ? now : above,
                matched ? before : above_before};
    }
};

/// What stands for the value in messages: its type.
json::value shown(const Node& node) {
    switch (node.schema->type) {
        case kube::Schema::Type::kObject:
            return "object";
        case kube::Schema::Type::kArray:
            return "array";
        case kube::Schema::Type::kString:
            return "string";
        case kube::Schema::Type::kInteger:
            return "integer";
        case kube::Schema::Type::kNumber:
            return "number";
        case kube::Schema::Type::kBoolean:
            return "boolean";
        default:
            return "";
    }
}

/// How a rule is named where it has no message.
std::string name_of(const kube::Schema::Rule& rule) {
    return std::string(trimmed(rule.message.empty() ? rule.rule : rule.message, kBlanks));
}

class RuleCheck {
  public:
    explicit RuleCheck(FieldErrors& field_errors) : field_errors_(field_errors) {}

    void check(const Node& node, const Part& part) {
        if (part.now->is_null() || over_) return;
        if (!node.rules.empty()) check_own(node, part);
        if (const json::object* object = part.now->if_object()) check_members(node, part, *object);
        if (const json::array* list = part.now->if_array()) check_elements(node, part, *list);
    }

  private:
    void check_members(const Node& node, const Part& part, const json::object& object) {
        const json::object* before = part.before ? part.before->if_object() : nullptr;
        if (node.schema->atomic) before = nullptr;
        for (const auto& [key, value] : object) {
            const Node* child = node.elements.get();
            if (const auto it = node.properties.find(std::string_view(key));
                it != node.properties.end())
                child = it->second.get();
            if (child == nullptr || over_) continue;
            check(*child, part.child(kube::child_path(part.path, key), value,
                                     before ? before->if_contains(key) : nullptr));
        }
    }
    void check_elements(const Node& node, const Part& part, const json::array& list) {
        if (!node.elements) return;
        const kube::OldElements before(*node.schema, part.before);
        for (std::size_t i = 0; i < list.size() && !over_; ++i)
            check(*node.elements,
                  part.child(kube::item_path(part.path, i), list[i], before.find(list[i])));
    }

    void check_own(const Node& node, const Part& part) {
        const cel::Value self = read(*part.now, node);
        const cel::Value old = part.before ? read(*part.before, node) : cel::Value();
        for (const Rule& rule : node.rules) {
            if (over_) return;
            // What compares two states needs both, unless the rule says otherwise.
            if (rule.uses_old && part.before == nullptr && !rule.source.optional_old_self) continue;
            cel::Value bound = old;
            if (rule.source.optional_old_self)
                bound = part.before ? cel::Value::some(old) : cel::Value::none();
            const cel::Binding bindings[] = {{"self", self}, {"oldSelf", bound}};
            evaluate(node, part, rule, bindings);
        }
    }
    static cel::Value read(const json::value& document, const Node& node) {
        cel::Outcome value = cel::value_of(document, node.declaration.get());
        if (value) return *std::move(value);
        return std::make_shared<const cel::Failure>(std::move(value).error());
    }

    void evaluate(const Node& node, const Part& part, const Rule& rule,
                  std::span<const cel::Binding> bindings) {
        const auto [outcome, cost] = rule.program.evaluate(bindings, kMostCallCost);
        if (!pay(node, part, cost,
                 "validation failed due to running out of cost budget, no further validation rules "
                 "will be run"))
            return;
        if (!outcome) return report_failure(node, part, rule, outcome.error());
        const bool* holds = outcome->as<bool>();
        if (holds != nullptr && *holds) return;
        if (!rule.uses_old && part.is_unchanged()) return;
        report(node, part, rule, message_of(node, part, rule, bindings));
    }
    /// False, with an error, when nothing is left.
    bool pay(const Node& node, const Part& part, std::uint64_t cost, std::string_view why) {
        if (cost <= left_) {
            left_ -= cost;
            return true;
        }
        over_ = true;
        field_errors_.push_back(invalid_value(part.path, shown(node), why));
        return false;
    }
    void report_failure(const Node& node, const Part& part, const Rule& rule,
                        const cel::Failure& failure) {
        std::string text =
            fmt::format("{} evaluating rule: {}", failure.text, name_of(rule.source));
        if (failure.text.starts_with("no such overload"))
            text = fmt::format(
                "'{}': call arguments did not match a supported operator, function or "
                "macro signature for rule: {}",
                failure.text, name_of(rule.source));
        if (failure.over_limit) {
            over_ = true;
            text = fmt::format(
                "'{}': no further validation rules will be run due to call cost "
                "exceeds limit for rule: {}",
                failure.text, name_of(rule.source));
        }
        field_errors_.push_back(invalid_value(part.path, shown(node), text));
    }

    std::string message_of(const Node& node, const Part& part, const Rule& rule,
                           std::span<const cel::Binding> bindings) {
        std::string otherwise = rule.source.message.empty() ? "failed rule: " + name_of(rule.source)
                                                            : name_of(rule.source);
        if (!rule.message) return otherwise;
        const auto [outcome, cost] = rule.message->evaluate(bindings, kMostCallCost);
        if (!pay(
                node, part, cost,
                "messageExpression evaluation failed due to running out of cost budget, no further "
                "validation rules will be run"))
            return otherwise;
        const cel::Text* text = outcome ? outcome->string() : nullptr;
        if (text == nullptr) return otherwise;
        const std::string_view message = trimmed(text->view(), kBlanks);
        const bool good = !message.empty() && message.size() <= kLongestMessage &&
                          message.find('\n') == message.npos;
        return good ? std::string(message) : otherwise;
    }

    void report(const Node& node, const Part& part, const Rule& rule, std::string_view message) {
        std::string field = part.path;
        if (!rule.source.blamed.empty()) field += (field.empty() ? "" : ".") + rule.source.blamed;
        if (field.empty()) field = "<nil>";  // as upstream names the whole object
        const std::string& reason = rule.source.reason;
        if (reason == "FieldValueForbidden")
            field_errors_.push_back(forbidden_field(field, message));
        else if (reason == "FieldValueRequired")
            field_errors_.push_back(required(field, message));
        else if (reason == "FieldValueDuplicate")
            field_errors_.push_back(duplicate(field, shown(node)));
        else
            field_errors_.push_back(invalid_value(field, shown(node), message));
    }

    FieldErrors& field_errors_;
    std::uint64_t left_ = kBudget;
    bool over_ = false;
};

}  // namespace

void check_rules(const Node& root, const json::value& object, const json::value* before,
                 FieldErrors& field_errors) {
    RuleCheck(field_errors).check(root, Part{.path = {}, .now = &object, .before = before});
}

}  // namespace muster::apiserver
