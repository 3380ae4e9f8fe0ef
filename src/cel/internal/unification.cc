#include "cel/internal/unification.h"

#include <fmt/format.h>

namespace muster::cel {
namespace {

using Kind = Type::Kind;

bool is_nullable(const Type& type) {
    return type.kind() == Kind::kOpaque || type.kind() == Kind::kObject ||
           type.kind() == Kind::kDuration || type.kind() == Kind::kTimestamp ||
           type.kind() == Kind::kNull;
}

bool is_as_general(const Type& a, const Type& b) {
    if (a.kind() == Kind::kDyn || a.kind() == Kind::kParameter) return true;
    if (b.kind() == Kind::kDyn || b.kind() == Kind::kParameter) return false;
    if (a.kind() != b.kind()) return false;
    if (a.kind() == Kind::kType) return true;
    if (a.kind() != Kind::kOpaque && a.kind() != Kind::kList && a.kind() != Kind::kMap)
        return a == b;
    if (a.name() != b.name() || a.parameters().size() != b.parameters().size()) return false;
    for (std::size_t i = 0; i < a.parameters().size(); ++i)
        if (!is_as_general(a.parameters()[i], b.parameters()[i])) return false;
    return true;
}

}  // namespace

const Type& more_general(const Type& a, const Type& b) { return is_as_general(a, b) ? a : b; }

Type Unification::new_variable() { return Type::parameter(fmt::format("_var{}", variables_++)); }

bool Unification::assign(const Type& from, const Type& to) {
    return attempt([&] { return assignable(from, to); });
}
bool Unification::assign(std::span<const Type> from, std::span<const Type> to) {
    return attempt([&] { return assignable(from, to); });
}

template <class Attempt>
bool Unification::attempt(Attempt attempt) {
    changes_.clear();
    if (attempt()) return true;
    for (auto change = changes_.rbegin(); change != changes_.rend(); ++change) {
        if (change->before)
            known_[change->variable] = *change->before;
        else
            known_.erase(change->variable);
    }
    return false;
}

bool Unification::step() {
    if (steps_left_ > 0) --steps_left_;
    return steps_left_ > 0;
}

const Type* Unification::find(const Type& variable) const {
    if (variable.kind() != Kind::kParameter) return nullptr;
    const auto it = known_.find(variable.name());
    return it == known_.end() ? nullptr : &it->second;
}

void Unification::set(const Type& variable, Type type) {
    const Type* before = find(variable);
    changes_.push_back({variable.name(), before ? std::optional<Type>(*before) : std::nullopt});
    known_[variable.name()] = std::move(type);
}

bool Unification::assignable(std::span<const Type> from, std::span<const Type> to) {
    if (from.size() != to.size()) return false;
    for (std::size_t i = 0; i < from.size(); ++i)
        if (!assignable(from[i], to[i])) return false;
    return true;
}

bool Unification::assignable(const Type& from, const Type& to) {
    if (!step()) return false;
    if (to.kind() == Kind::kParameter) {
        const auto [fits, has_type] = substitutes(from, to);
        if (fits || has_type) return fits;
    }
    if (from.kind() == Kind::kParameter) return substitutes(to, from).first;
    if (from.is_dyn_or_error() || to.is_dyn_or_error()) return true;
    if (from.kind() == Kind::kNull) return is_nullable(to);
    if (to.kind() == Kind::kNull) return is_nullable(from);
    if (from.kind() == Kind::kType) return to.kind() == Kind::kType;
    if (from.kind() != Kind::kOpaque && from.kind() != Kind::kList && from.kind() != Kind::kMap)
        return from == to;
    return from.kind() == to.kind() && from.name() == to.name() &&
           assignable(from.parameters(), to.parameters());
}

/// Whether `variable` may stand for the type, and whether it stands for something already.
std::pair<bool, bool> Unification::substitutes(const Type& type, const Type& variable) {
    if (type == variable) return {true, true};
    if (const Type* found = find(variable)) {
        const Type current = *found;
        if (type == current) return {true, true};
        if (!assignable(type, current)) return {false, true};
        const Type& general = more_general(type, current);
        if (is_free_of(variable, general)) set(variable, general);
        return {true, true};
    }
    if (!is_free_of(variable, type)) return {false, false};
    set(variable, type);
    return {true, false};
}

bool Unification::is_free_of(const Type& variable, const Type& type) {
    if (!step() || variable == type) return false;
    if (type.kind() == Kind::kParameter) {
        const Type* known = find(type);
        return known == nullptr || is_free_of(variable, Type(*known));
    }
    for (const Type& parameter : type.parameters())
        if (!is_free_of(variable, parameter)) return false;
    return true;
}

Type Unification::resolve(const Type& type, bool free_as_dyn) {
    if (!step()) return Kind::kDyn;
    if (type.kind() == Kind::kParameter) {
        if (const Type* known = find(type)) return resolve(Type(*known), free_as_dyn);
        return free_as_dyn ? Type(Kind::kDyn) : type;
    }
    if (type.parameters().empty()) return type;
    std::vector<Type> parameters;
    parameters.reserve(type.parameters().size());
    for (const Type& parameter : type.parameters())
        parameters.push_back(resolve(parameter, free_as_dyn));
    return type.with_parameters(std::move(parameters));
}

}  // namespace muster::cel
