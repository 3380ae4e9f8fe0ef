#include "kube/schema/pattern_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "kube/internal/schema/pattern_cost.h"
#include "kube/internal/schema/value_text.h"

namespace muster::kube {
namespace {

/// Of more, each comparison may have to compile its own again.
constexpr std::size_t kFew = 16;

/// Walks each part once, however many refer to it.
class PatternWalk {
  public:
    std::size_t steps() const { return patterns_.size() > kFew ? kLargestProgram : most_; }

    void walk(const Schema& schema) {
        if (!is_new(&schema)) return;
        take(schema.pattern);
        for (const auto& [name, property] : schema.properties) walk(property);
        walk(schema.items);
        walk(schema.additional);
        walk(schema.constraint);
    }

  private:
    bool is_new(const void* part) { return patterns_.size() <= kFew && seen_.insert(part).second; }
    void walk(const Schema::Ptr& schema) {
        if (schema != nullptr) walk(*schema);
    }
    void walk(const SchemaConstraint::Ptr& constraint) {
        if (constraint == nullptr || !is_new(constraint.get())) return;
        take(constraint->pattern);
        for (const auto& [name, property] : constraint->properties) walk(property);
        walk(constraint->items);
        walk(constraint->none_of);
        for (const auto* parts : {&constraint->all_of, &constraint->any_of, &constraint->one_of})
            for (const SchemaConstraint::Ptr& part : *parts) walk(part);
    }
    void take(const std::string& pattern) {
        if (pattern.empty() || !patterns_.insert(pattern).second) return;
        most_ = std::max(most_, Regex::of(pattern)->size());
    }

    std::unordered_set<const void*> seen_;
    std::unordered_set<std::string> patterns_;
    std::size_t most_ = 0;
};

}  // namespace

std::size_t most_pattern_steps(const Schema& schema) {
    PatternWalk walk;
    walk.walk(schema);
    return walk.steps();
}

std::size_t pattern_steps(const Regex& regex, std::string_view text) {
    return regex.size() * text.size();
}

std::string pattern_problem(const std::string& pattern) {
    const auto regex = Regex::of(pattern);
    const std::string_view problem = regex->size() > kLargestProgram
                                         ? "error parsing regexp: expression too large"
                                         : std::string_view(regex->problem());
    if (problem.empty()) return {};
    return fmt::format("Invalid value: {}: must be a valid regular expression, but isn't: {}",
                       value_text(json::value(pattern)), problem);
}

}  // namespace muster::kube
