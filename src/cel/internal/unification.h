#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cel/type.h"

namespace muster::cel {

/// What type variables stand for while an expression is checked. Upstream: cel-go v0.23.2,
/// checker/types.go.
class Unification {
  public:
    Type new_variable();
    /// Whether a value of the one can be where the other is wanted; then variables have got the
    /// types that this takes. Otherwise nothing has changed.
    bool assign(const Type& from, const Type& to);
    bool assign(std::span<const Type> from, std::span<const Type> to);
    /// Without variables that stand for something; those left are dyn, if `free_as_dyn`.
    Type resolve(const Type& type, bool free_as_dyn = false);
    /// True once types have become larger than an expression of people makes them.
    bool exhausted() const { return steps_left_ == 0; }

  private:
    struct Change {
        std::string variable;
        std::optional<Type> before;
    };

    bool assignable(const Type& from, const Type& to);
    bool assignable(std::span<const Type> from, std::span<const Type> to);
    std::pair<bool, bool> substitutes(const Type& type, const Type& variable);
    bool is_free_of(const Type& variable, const Type& type);
    void set(const Type& variable, Type type);
    const Type* find(const Type& variable) const;
    template <class Attempt>
    bool attempt(Attempt attempt);
    bool step();

    std::map<std::string, Type, std::less<>> known_;
    std::vector<Change> changes_;  ///< of the current attempt
    std::size_t variables_ = 0;
    std::size_t steps_left_ = 5'000'000;
};

/// The one of two types which stands for more, if both agree.
const Type& more_general(const Type& a, const Type& b);

}  // namespace muster::cel
