#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kube/values/json.h"

namespace muster::apiserver {

/// A role binding, and whom it names in an order in which they are found quickly: each request looks
/// at all bindings that may concern it, and others choose how many subjects those have.
class BindingSubjects {
  public:
    struct Subject {
        std::string_view kind;
        std::string_view name;
        std::string_view namespace_;  ///< of an account; empty for others
        std::uint32_t position = 0;   ///< in the binding

        friend auto operator<=>(const Subject&, const Subject&) = default;
    };

    explicit BindingSubjects(kube::ObjectPtr binding);

    const json::object& binding() const { return binding_->get_object(); }
    /// All of a kind, by name.
    std::span<const Subject> of_kind(std::string_view kind) const;
    /// The first of those with this name, by namespace; null if there is none.
    static const Subject* find(std::span<const Subject> of_one_kind, std::string_view name,
                               std::string_view namespace_);
    const json::object& at(const Subject& subject) const;

  private:
    kube::ObjectPtr binding_;
    std::vector<Subject> sorted_;
};

}  // namespace muster::apiserver
