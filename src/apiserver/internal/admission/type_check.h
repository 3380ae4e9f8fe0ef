#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/resources/registry.h"
#include "kube/values/json.h"

namespace muster::apiserver {

/// The kinds that a policy's rules name, without those behind a '*': as upstream at most ten of a
/// rule, and 32 together. In the order of group, version and kind.
std::vector<DefPtr> kinds_to_check(const Registry& registry, const json::object& spec);
/// The kind of the policy's parameters, null if there is none, or it is not served.
DefPtr params_to_check(const Registry& registry, const json::object& spec);

/// The validations of a policy, checked against the types of the kinds that it is about. Upstream:
/// k8s.io/apiserver v0.33, pkg/admission/plugin/policy/validating/typechecking.go.
class TypeCheck {
  public:
    /// `spec`: of the policy. It and `params`, which may be null, outlive the check.
    TypeCheck(const json::object& spec, const ResourceDef* params);

    /// For objects of one more kind. Takes as long as the policy took to be compiled.
    void check(const ResourceDef& kind);
    /// status.typeChecking: at most some 256 KiB of warnings, each of at most 16 KiB for a kind.
    json::object result() const;

  private:
    struct Checked {
        std::string field;
        std::string_view source;
        std::string warning;
    };

    const json::object& spec_;
    const ResourceDef* params_;
    std::vector<Checked> all_;
    std::size_t bytes_ = 0;
    bool full_ = false;
};

}  // namespace muster::apiserver
