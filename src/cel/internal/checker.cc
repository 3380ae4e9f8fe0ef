#include "cel/internal/checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cel/declaration.h"
#include "cel/internal/format_check.h"
#include "cel/internal/implementations.h"
#include "cel/internal/signatures.h"
#include "cel/internal/time_text.h"
#include "cel/internal/unification.h"
#include "kube/values/regex.h"

namespace muster::cel {
namespace {

using Kind = Type::Kind;

/// Types that people write are far smaller.
constexpr std::size_t kMostParts = 1000;

/// "a.b.c", if the expression is nothing but names.
std::optional<std::string> qualified_name(const Expression& expression) {
    if (const auto* identifier = expression.as<Identifier>()) return identifier->name;
    const auto* select = expression.as<Select>();
    if (select == nullptr || select->test) return std::nullopt;
    std::optional<std::string> operand = qualified_name(*select->operand);
    if (!operand) return std::nullopt;
    return *operand + "." + select->field;
}

Type type_of_literal(const Value& value) {
    if (value.is_null()) return Kind::kNull;
    if (value.as<bool>()) return Kind::kBool;
    if (value.as<std::int64_t>()) return Kind::kInt;
    if (value.as<std::uint64_t>()) return Kind::kUint;
    if (value.as<double>()) return Kind::kDouble;
    if (value.string()) return Kind::kString;
    return Kind::kBytes;
}

class Checker {
  public:
    explicit Checker(std::span<const Variable> variables) {
        for (const Variable& variable : variables) scope_.push_back(variable);
    }

    std::vector<Issue> run(Expression& root) {
        visit(root);
        settle(root);
        if (types_.exhausted()) refuse(root, "the types of the expression are too large");
        return std::move(issues_.empty() ? planning_issues_ : issues_);
    }

  private:
    void refuse(const Expression& at, std::string message) {
        issues_.push_back({at.at, std::move(message)});
    }
    void undeclared(Expression& at, std::string_view name) {
        refuse(at, fmt::format("undeclared reference to '{}' (in container '')", name));
        at.type = Kind::kError;
    }
    void mismatch(const Expression& at, const Type& wanted, const Type& found) {
        refuse(at, fmt::format("expected type '{}' but found '{}'", wanted.text(), found.text()));
    }
    void set_type(Expression& at, Type type) {
        if (type.parts() > kMostParts) {
            refuse(at, "the type of the expression is too large");
            type = Kind::kError;
        }
        at.type = std::move(type);
    }

    void visit(Expression& expression) {
        std::visit([&](auto& node) { check(expression, node); }, expression.node);
    }

    void check(Expression& at, const Literal& literal) { at.type = type_of_literal(literal.value); }

    /// The innermost variable of the name, or null.
    const Variable* find_variable(std::string_view name) const {
        for (auto it = scope_.rbegin(); it != scope_.rend(); ++it)
            if (it->name == name) return &*it;
        return nullptr;
    }
    /// Whether the name is that of a type; then the node is the type.
    bool is_type(Expression& at, const std::string& name) {
        const Type* type = find_type(name);
        if (type == nullptr) return false;
        at.constant = TypeName{type->runtime_name()};
        set_type(at, Type::type_of(*type));
        return true;
    }
    void check(Expression& at, const Identifier& identifier) {
        if (const Variable* variable = find_variable(identifier.name))
            return set_type(at, variable->type);
        if (!is_type(at, identifier.name)) undeclared(at, identifier.name);
    }

    void check(Expression& at, Select& select) {
        if (!select.test) {
            const std::optional<std::string> name = qualified_name(at);
            const Variable* variable = name ? find_variable(*name) : nullptr;
            if (variable != nullptr) {  // with a dot in its name, as `authorizer.requestResource`
                set_type(at, variable->type);
                at.node = Identifier{*name};
                return;
            }
            // A variable hides the types whose names begin like it.
            if (name && find_variable(name->substr(0, name->find('.'))) == nullptr &&
                is_type(at, *name)) {
                at.node = Identifier{*name};
                return;
            }
        }
        const Type found = field_type(at, *select.operand, select.field, false);
        set_type(at, select.test ? Type(Kind::kBool) : types_.resolve(found));
    }
    Type field_type(const Expression& at, Expression& operand, const std::string& field,
                    bool optional) {
        visit(operand);
        const Type whole = types_.resolve(operand.type);
        const bool is_optional = whole.is_optional();
        const Type target = is_optional ? Type(whole.parameters()[0]) : whole;
        Type found = Kind::kError;
        if (target.kind() == Kind::kMap) {
            found = target.parameters()[1];
        } else if (target.kind() == Kind::kObject) {
            if (const Declaration::Field* known = target.declaration()->field(field))
                found = known->declaration->type();
            else
                refuse(at, fmt::format("undefined field '{}'", field));
        } else if (target.kind() == Kind::kParameter) {
            types_.assign(Kind::kDyn, target);
            found = Kind::kDyn;
        } else {
            if (!target.is_dyn_or_error()) refuse(at, no_fields(target));
            found = Kind::kDyn;
        }
        return is_optional || optional ? Type::optional(found) : found;
    }

    /// Kubernetes' own types, but for addresses, are messages whose fields no one knows.
    static std::string no_fields(const Type& type) {
        if (type.kind() == Kind::kOpaque && type.name().starts_with("kubernetes."))
            return fmt::format("unexpected failed resolution of '{}'", type.name());
        return fmt::format("type '{}' does not support field selection", type.text());
    }

    void check(Expression& at, Call& call) {
        if (call.function == "_?._") return check_optional_select(at, call);
        for (ExpressionPtr& argument : call.arguments) visit(*argument);
        if (call.target) {
            // `ip.isCanonical(x)` is a function with a dot in its name.
            const std::optional<std::string> prefix = qualified_name(*call.target);
            if (prefix && find_function(*prefix + "." + call.function) != nullptr) {
                call.function = *prefix + "." + call.function;
                call.target = nullptr;
            } else {
                visit(*call.target);
            }
        }
        const Function* function = find_function(call.function);
        if (function == nullptr) return undeclared(at, call.function);
        resolve(at, call, *function);
        check_literals(call);
    }
    void check_optional_select(Expression& at, Call& call) {
        const auto* field = call.arguments[1]->as<Literal>();
        const std::string name(field->value.string()->view());
        call.arguments[1]->type = Kind::kString;
        set_type(at, types_.resolve(field_type(at, *call.arguments[0], name, true)));
        at.overloads = {"select_optional_field"};
    }

    static std::vector<Type> argument_types(const Call& call) {
        std::vector<Type> types;
        if (call.target) types.push_back(call.target->type);
        for (const ExpressionPtr& argument : call.arguments) types.push_back(argument->type);
        return types;
    }

    void resolve(Expression& at, const Call& call, const Function& function) {
        if (function.name == "_&&_" || function.name == "_||_") {
            at.overloads = {function.signatures[0].id};
            bool good = true;
            for (const ExpressionPtr& argument : call.arguments) {
                if (types_.assign(argument->type, Kind::kBool)) continue;
                mismatch(*argument, Kind::kBool, argument->type);
                good = false;
            }
            at.type = good ? Kind::kBool : Kind::kError;
            return;
        }
        const std::vector<Type> arguments = argument_types(call);
        std::optional<Type> result;
        for (const Signature& signature : function.signatures) {
            if (signature.member != (call.target != nullptr)) continue;
            const Signature fresh = signature.generic ? renewed(signature) : signature;
            if (!types_.assign(arguments, fresh.arguments)) continue;
            at.overloads.push_back(signature.id);
            at.signature = at.overloads.size() == 1 ? &signature : nullptr;
            const Type own = types_.resolve(fresh.result);
            if (!result)
                result = own;
            else if (result->kind() != Kind::kDyn && !(own == *result))
                result = Kind::kDyn;
        }
        if (!result) {
            at.type = Kind::kError;
            return refuse(at, no_overload(call, arguments));
        }
        at.implementation = find_implementation(function.name);
        set_type(at, *std::move(result));
    }
    /// With variables of its own in the place of A and B.
    Signature renewed(const Signature& signature) {
        const Type a = types_.new_variable();
        const Type b = types_.new_variable();
        Signature fresh = signature;
        for (Type& argument : fresh.arguments) argument = replaced(argument, a, b);
        fresh.result = replaced(fresh.result, a, b);
        return fresh;
    }
    static Type replaced(const Type& type, const Type& a, const Type& b) {
        if (type.kind() == Kind::kParameter) return type.name() == "A" ? a : b;
        if (type.parameters().empty()) return type;
        std::vector<Type> parameters;
        for (const Type& parameter : type.parameters())
            parameters.push_back(replaced(parameter, a, b));
        return type.with_parameters(std::move(parameters));
    }
    std::string no_overload(const Call& call, const std::vector<Type>& arguments) {
        std::string list;
        for (std::size_t i = call.target ? 1 : 0; i < arguments.size(); ++i) {
            if (!list.empty()) list += ", ";
            list += types_.resolve(arguments[i], true).text();
        }
        const std::string target =
            call.target ? types_.resolve(arguments[0], true).text() + "." : std::string();
        return fmt::format("found no matching overload for '{}' applied to '{}({})'", call.function,
                           target, list);
    }

    /// Texts that could never be read, as Kubernetes refuses them when a rule is made.
    void check_literals(const Call& call) {
        const bool member = call.target != nullptr;
        if (call.function == "matches" && call.arguments.size() == (member ? 1u : 2u)) {
            const Text* pattern = literal_text(*call.arguments.back());
            if (pattern == nullptr) return;
            if (!kube::Regex::of(pattern->view())->problem().empty())
                refuse(*call.arguments.back(), "invalid matches argument");
        }
        if (member || call.arguments.size() != 1) return;
        const Text* text = literal_text(*call.arguments[0]);
        if (text == nullptr) return;
        if (call.function == "duration" && !parse_duration(text->view()))
            refuse(*call.arguments[0], "invalid duration argument");
        if (call.function == "timestamp" && !parse_timestamp(text->view()))
            refuse(*call.arguments[0], "invalid timestamp argument");
    }
    static const Text* literal_text(const Expression& expression) {
        const auto* literal = expression.as<Literal>();
        return literal ? literal->value.string() : nullptr;
    }

    /// The value of an entry written with '?'.
    Type unwrapped(const Expression& at, const Type& type) {
        if (type.is_optional()) return type.parameters()[0];
        if (type.kind() != Kind::kDyn) mismatch(at, Type::optional(type), type);
        return type;
    }
    /// The type of all parts; dyn if they have several.
    void join(std::optional<Type>& joined, const Type& type) {
        if (!joined)
            joined = type;
        else if (types_.assign(*joined, type))
            joined = Type(more_general(*joined, type));
        else
            joined = Kind::kDyn;
    }
    void check(Expression& at, MakeList& list) {
        std::optional<Type> element;
        for (std::size_t i = 0; i < list.elements.size(); ++i) {
            Expression& each = *list.elements[i];
            visit(each);
            join(element, list.optional[i] ? unwrapped(each, each.type) : each.type);
        }
        set_type(at, Type::list(element ? *element : types_.new_variable()));
    }
    void check(Expression& at, MakeMap& map) {
        std::optional<Type> key;
        std::optional<Type> value;
        for (MakeMap::Entry& entry : map.entries) {
            visit(*entry.key);
            join(key, entry.key->type);
            visit(*entry.value);
            join(value,
                 entry.optional ? unwrapped(*entry.value, entry.value->type) : entry.value->type);
        }
        if (!key) key = types_.new_variable();
        if (!value) value = types_.new_variable();
        set_type(at, Type::map(*key, *value));
    }
    void check(Expression& at, const MakeObject& object) { undeclared(at, object.type); }

    void check(Expression& at, Comprehension& fold) {
        visit(*fold.range);
        visit(*fold.initial);
        const Type range = types_.resolve(fold.range->type);
        const Type accumulated = fold.initial->type;
        const bool two = !fold.second_variable.empty();
        Type first = Kind::kDyn;
        Type second = Kind::kDyn;
        if (range.kind() == Kind::kList) {
            first = two ? Type(Kind::kInt) : Type(range.parameters()[0]);
            second = range.parameters()[0];
        } else if (range.kind() == Kind::kMap) {
            first = range.parameters()[0];
            second = range.parameters()[1];
        } else if (range.is_dyn_or_error() || range.kind() == Kind::kParameter) {
            types_.assign(Kind::kDyn, range);
        } else {
            refuse(*fold.range,
                   fmt::format("expression of type '{}' cannot be range of a comprehension (must "
                               "be list, map, or dynamic)",
                               range.text()));
            first = second = Kind::kError;
        }
        scope_.push_back({fold.accumulator, accumulated, nullptr});
        scope_.push_back({fold.variable, first, nullptr});
        if (two) scope_.push_back({fold.second_variable, second, nullptr});
        visit(*fold.condition);
        expect(*fold.condition, Kind::kBool);
        visit(*fold.step);
        expect(*fold.step, accumulated);
        scope_.resize(scope_.size() - (two ? 2 : 1));
        visit(*fold.result);
        scope_.pop_back();
        set_type(at, types_.resolve(fold.result->type));
    }
    void expect(const Expression& at, const Type& wanted) {
        if (!types_.assign(wanted, at.type)) mismatch(at, wanted, at.type);
    }

    /// Types without variables, and literals of literals as values.
    void settle(Expression& at) {
        at.type = types_.resolve(at.type, true);
        struct Children {
            Checker& checker;
            void operator()(Literal&) {}
            void operator()(Identifier&) {}
            void operator()(MakeObject&) {}
            void operator()(Select& select) { checker.settle(*select.operand); }
            void operator()(Call& call) {
                if (call.target) checker.settle(*call.target);
                for (ExpressionPtr& argument : call.arguments) checker.settle(*argument);
            }
            void operator()(MakeList& list) {
                for (ExpressionPtr& element : list.elements) checker.settle(*element);
            }
            void operator()(MakeMap& map) {
                for (MakeMap::Entry& entry : map.entries) {
                    checker.settle(*entry.key);
                    checker.settle(*entry.value);
                }
            }
            void operator()(Comprehension& fold) {
                for (ExpressionPtr* part :
                     {&fold.range, &fold.initial, &fold.condition, &fold.step, &fold.result})
                    checker.settle(**part);
            }
        };
        const auto* call = at.as<Call>();
        const bool formats = call != nullptr && call->function == "format";
        formats_ += formats ? 1 : 0;
        std::visit(Children{*this}, at.node);
        formats_ -= formats ? 1 : 0;
        if (formats) check_format(*call);
        // What format() is given may be of many types.
        if (formats_ == 0) check_types_of_literal(at);
        fold_constants(at);
    }

    void check_format(const Call& call) {
        const Text* format = call.target ? literal_text(*call.target) : nullptr;
        const auto* list = call.arguments.empty() ? nullptr : call.arguments[0]->as<MakeList>();
        if (format == nullptr || list == nullptr) return;
        if (auto problem = format_problem(format->view(), *list))
            refuse(*call.arguments[0], *std::move(problem));
    }

    /// Elements of one type, dyn included, as the validator of Kubernetes wants them.
    void check_types_of_literal(const Expression& at) {
        if (const auto* list = at.as<MakeList>()) {
            for (std::size_t i = 1; i < list->elements.size(); ++i) {
                const Type first = element_type(*list, 0);
                const Type other = element_type(*list, i);
                if (first == other) continue;
                return mismatch(*list->elements[i], first, other);
            }
        }
        if (const auto* map = at.as<MakeMap>()) {
            for (const MakeMap::Entry& entry : map->entries) {
                const MakeMap::Entry& first = map->entries.front();
                if (!(entry.key->type == first.key->type))
                    mismatch(*entry.key, first.key->type, entry.key->type);
                if (!(value_type(entry) == value_type(first)))
                    mismatch(*entry.value, value_type(first), value_type(entry));
            }
        }
    }
    static Type without_optional(const Type& type, bool optional) {
        return optional && type.is_optional() ? Type(type.parameters()[0]) : type;
    }
    static Type element_type(const MakeList& list, std::size_t index) {
        return without_optional(list.elements[index]->type, list.optional[index]);
    }
    static Type value_type(const MakeMap::Entry& entry) {
        return without_optional(entry.value->type, entry.optional);
    }

    /// The value of what has always the same: as in cel-go it costs nothing when it is evaluated.
    void fold_constants(Expression& at) {
        if (const auto* list = at.as<MakeList>()) at.constant = constant_list(*list);
        if (const auto* map = at.as<MakeMap>()) at.constant = constant_map(*map);
        const auto* call = at.as<Call>();
        if (call == nullptr || at.implementation == nullptr || call->target) return;
        if (call->function == "@in" && call->arguments[1]->constant) {
            const List* list = call->arguments[1]->constant->list();
            if (list != nullptr && list->size() == 0) at.constant = false;
        }
        if (call->arguments.size() != 1 || !is_conversion(call->function)) return;
        const std::optional<Value> argument = constant(*call->arguments[0]);
        if (!argument) return;
        Outcome converted = at.implementation(std::span(&*argument, 1));
        if (converted)
            at.constant = *std::move(converted);
        else
            planning_issues_.push_back({at.at, converted.error().text, true});
    }
    static bool is_conversion(std::string_view function) {
        constexpr std::array<std::string_view, 10> kConversions = {
            "bool", "bytes",  "double",    "duration", "dyn",
            "int",  "string", "timestamp", "type",     "uint"};
        return std::ranges::find(kConversions, function) != kConversions.end();
    }
    static std::optional<Value> constant(const Expression& at) {
        if (const auto* literal = at.as<Literal>()) return literal->value;
        return at.constant;
    }
    static std::optional<Value> constant_list(const MakeList& list) {
        std::vector<Value> elements;
        for (std::size_t i = 0; i < list.elements.size(); ++i) {
            std::optional<Value> element = constant(*list.elements[i]);
            if (!element || list.optional[i]) return std::nullopt;
            elements.push_back(*std::move(element));
        }
        if (std::optional<Value> indexed = indexed_list(elements)) return indexed;
        return Value::list(std::move(elements));
    }
    static std::optional<Value> constant_map(const MakeMap& map) {
        std::vector<std::pair<Value, Value>> entries;
        for (const MakeMap::Entry& entry : map.entries) {
            std::optional<Value> key = constant(*entry.key);
            std::optional<Value> value = constant(*entry.value);
            if (!key || !value || entry.optional) return std::nullopt;
            const std::optional<std::string> text = hash_text(*key);
            // A key that can't be one fails when it is evaluated.
            if (!text || key->as<double>() != nullptr) return std::nullopt;
            entries.emplace_back(*std::move(key), *std::move(value));
        }
        return Value::map(std::move(entries));
    }

    std::vector<Variable> scope_;
    Unification types_;
    std::vector<Issue> issues_;
    std::vector<Issue> planning_issues_;
    int formats_ = 0;  ///< calls of format() around the current node
};

}  // namespace

std::vector<Issue> check(Expression& root, std::span<const Variable> variables) {
    return Checker(variables).run(root);
}

}  // namespace muster::cel
