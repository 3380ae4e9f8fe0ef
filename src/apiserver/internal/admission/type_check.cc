#include "apiserver/internal/admission/type_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "apiserver/internal/expressions/admission_declarations.h"
#include "apiserver/internal/expressions/kind_declaration.h"
#include "apiserver/objects/json_access.h"
#include "cel/program.h"

namespace muster::apiserver {
namespace {

constexpr std::size_t kMostKindsOfRule = 10;
constexpr std::size_t kMostKinds = 32;
/// Combinations of a group, a version and a resource that are looked up for a policy.
constexpr std::size_t kMostNames = 1'000;
constexpr std::size_t kLongestWarning = std::size_t{16} * 1024;
constexpr std::size_t kMostWarningBytes = std::size_t{256} * 1024;

using Kind = cel::Type::Kind;

/// The texts in order; nothing if one has a '*'.
std::vector<std::string> exact(const json::object& rule, std::string_view key) {
    std::vector<std::string> texts = strings_at(rule, key);
    for (const std::string& text : texts)
        if (text.contains('*')) return {};
    std::ranges::sort(texts);
    return texts;
}
std::vector<std::string> exact_resources(const json::object& rule) {
    std::vector<std::string> texts = strings_at(rule, "resources");
    std::erase_if(texts,
                  [](const std::string& text) { return text.find_first_of("*/") != text.npos; });
    std::ranges::sort(texts);
    return texts;
}

/// As kubectl and the controller manager find kinds: those of the core group are any group's.
std::vector<DefPtr> kinds_for(const Registry& registry, const std::string& group,
                              const std::string& version, const std::string& resource) {
    std::vector<DefPtr> found;
    const auto add = [&](const std::string& api_version) {
        const DefPtr def = registry.find(api_version, resource);
        if (def != nullptr && def->served && def->schema != nullptr) found.push_back(def);
    };
    if (!group.empty()) {
        add(group + "/" + version);
        return found;
    }
    add(version);
    if (!found.empty())  // Events are stored once and served by two groups.
        for (DefPtr& other : registry.served_as(*found.front()))
            if (other->type.version == version && other->type.group != group)
                found.push_back(std::move(other));
    const std::string prefix = resource + ".";
    const auto& all = registry.resources();
    for (auto it = all.lower_bound(prefix);
         it != all.end() && it->first.starts_with(prefix) && found.size() < kMostKindsOfRule; ++it)
        add(it->first.substr(prefix.size()) + "/" + version);
    return found;
}

auto order(const DefPtr& def) {
    return std::tie(def->type.group, def->type.version, def->type.kind);
}

std::string text_of_kind(const kube::ResourceType& type) {
    return fmt::format("{}/{}, Kind={}", type.group, type.version, type.kind);
}

/// The names of an expression's scope, with types.
std::vector<cel::Variable> typed_names(const cel::DeclarationPtr& object,
                                       const cel::DeclarationPtr& params) {
    std::vector<cel::Variable> names{
        {"object", object->type(), object},
        {"oldObject", object->type(), object},
        {"request", request_declaration()->type(), request_declaration()},
        {"namespaceObject", namespace_declaration()->type(), namespace_declaration()},
        // Upstream does not declare authorizer.requestResource here.
        {"authorizer", cel::Type::opaque("kubernetes.authorization.Authorizer"), nullptr}};
    if (params != nullptr) names.push_back({"params", params->type(), params});
    return names;
}

/// The type of what is right, dyn otherwise, and what is wrong.
std::pair<cel::Type, std::string> type_of(std::string_view source,
                                          std::span<const cel::Variable> names) {
    const auto program = cel::Program::compile(source, names);
    if (program) return {program->type(), ""};
    // Constants that can't be computed are found when an expression is planned, which it is not here.
    if (program.error().front().when_planned) return {Kind::kDyn, ""};
    return {Kind::kDyn, cel::describe(source, program.error())};
}

/// Upstream's variables have no types of objects.
std::shared_ptr<cel::Declaration> typed_variables(const json::object& spec,
                                                  std::vector<cel::Variable> names) {
    auto variables = std::make_shared<cel::Declaration>();
    variables->form = cel::Declaration::Form::kObject;
    variables->name = "kubernetes.variables";
    names.push_back({"variables", variables->type(), variables});
    for (const json::object* variable : objects_at(spec, "variables")) {
        const std::string name(string_at(*variable, "name"));
        const cel::Type type = type_of(string_at(*variable, "expression"), names).first;
        variables->fields[name] = {name, declaration_of_type(type)};
    }
    return variables;
}

void cut(std::string& text) {
    if (text.size() <= kLongestWarning) return;
    std::size_t end = kLongestWarning;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    text.resize(end);
}

}  // namespace

std::vector<DefPtr> kinds_to_check(const Registry& registry, const json::object& spec) {
    std::vector<DefPtr> all;
    std::size_t names = 0;
    const auto add_kinds_of = [&](const json::object& rule) {
        std::size_t count = 0;
        for (const std::string& group : exact(rule, "apiGroups"))
            for (const std::string& version : exact(rule, "apiVersions"))
                for (const std::string& resource : exact_resources(rule)) {
                    if (++names > kMostNames) return false;
                    for (const DefPtr& def : kinds_for(registry, group, version, resource)) {
                        all.push_back(def);
                        if (++count == kMostKindsOfRule) return false;
                    }
                }
        return true;
    };
    for (const json::object* rule : objects_at(child(spec, "matchConstraints"), "resourceRules"))
        if (!add_kinds_of(*rule)) break;
    std::ranges::sort(all, {}, order);
    const auto repeated = std::ranges::unique(all, {}, order);
    all.erase(repeated.begin(), repeated.end());
    if (all.size() > kMostKinds) all.resize(kMostKinds);
    return all;
}

DefPtr params_to_check(const Registry& registry, const json::object& spec) {
    const json::object* kind = object_at(spec, "paramKind");
    if (kind == nullptr) return nullptr;
    DefPtr def = registry.find_kind(string_at(*kind, "apiVersion"), string_at(*kind, "kind"));
    return def != nullptr && def->served && def->schema != nullptr ? def : nullptr;
}

TypeCheck::TypeCheck(const json::object& spec, const ResourceDef* params)
    : spec_(spec), params_(params) {
    std::size_t index = 0;
    for (const json::object* validation : objects_at(spec, "validations")) {
        const std::string at = fmt::format("spec.validations[{}]", index++);
        all_.push_back({at + ".expression", string_at(*validation, "expression"), {}});
        const std::string_view message = string_at(*validation, "messageExpression");
        if (!message.empty()) all_.push_back({at + ".messageExpression", message, {}});
    }
}

void TypeCheck::check(const ResourceDef& kind) {
    const cel::DeclarationPtr object = declaration_of_kind(kind);
    if (full_ || object == nullptr) return;
    std::vector<cel::Variable> names =
        typed_names(object, params_ == nullptr ? nullptr : declaration_of_kind(*params_));
    const auto variables = typed_variables(spec_, names);
    names.push_back({"variables", variables->type(), variables});
    for (Checked& one : all_) {
        std::string problem = type_of(one.source, names).second;
        if (problem.empty()) continue;
        cut(problem);
        if (!one.warning.empty()) one.warning += '\n';
        one.warning += fmt::format("{}: {}\n", text_of_kind(kind.type), problem);
        bytes_ += problem.size();
        full_ = bytes_ >= kMostWarningBytes;
        if (full_) return;
    }
}

json::object TypeCheck::result() const {
    json::array warnings;
    for (const Checked& one : all_)
        if (!one.warning.empty())
            warnings.push_back(json::object{{"fieldRef", one.field}, {"warning", one.warning}});
    if (full_)
        warnings.push_back(json::object{{"fieldRef", "spec.validations"},
                                        {"warning", "further warnings are left out"}});
    json::object result;
    if (!warnings.empty()) result["expressionWarnings"] = std::move(warnings);
    return result;
}

}  // namespace muster::apiserver
