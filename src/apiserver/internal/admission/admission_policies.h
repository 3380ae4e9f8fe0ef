#pragma once

#include <expected>
#include <string>
#include <vector>

#include "apiserver/internal/admission/admission_subject.h"
#include "apiserver/internal/admission/policy.h"
#include "apiserver/internal/admission/policy_verdict.h"
#include "apiserver/internal/admission/read_objects.h"

namespace muster::apiserver {

/// Evaluates the ValidatingAdmissionPolicies whose bindings select a write. Upstream:
/// k8s.io/apiserver v0.33, pkg/admission/plugin/policy. Thread: the server's loop; what takes long
/// is evaluated beside it.
class AdmissionPolicies {
  public:
    explicit AdmissionPolicies(ServerState& state);

    /// Whether there may be any.
    bool in_use() const { return !policies_.is_empty() && !bindings_.is_empty(); }

    /// Whether all of them allow it. `after` is null for a deletion. What they warn of is added to
    /// `warnings`, what they say for the audit log to that of the requester. All arguments outlive
    /// the call.
    Task<StatusResult<void>> validate(const AdmissionSubject& subject, const json::value* before,
                                      const json::value* after, std::vector<std::string>& warnings);

  private:
    using Policies = ReadObjects<Policy>;
    using Bindings = ReadObjects<PolicyBinding>;
    struct Selected {
        Policies::Ptr policy;
        DefPtr seen_as;
        std::vector<Bindings::Ptr> bindings;
    };
    struct Params {
        DefPtr def;
        std::vector<store::ObjectTextPtr> objects;  ///< null: it is evaluated without one
    };
    class Report;

    std::vector<Selected> selected_by(const SubjectToMatch& subject_to_match,
                                      const AdmissionSubject& subject) const;
    /// The parameters of a binding as they are stored; or why they can't be found. There may be any
    /// number of them: one at a time is worth a tree.
    Task<std::expected<Params, std::string>> params_of(const Policy& policy,
                                                       const PolicyBinding& binding,
                                                       std::string space) const;
    /// The error if the write can't be seen as the policy wants it.
    Task<StatusResult<void>> apply(const Selected& selected, const AdmissionSubject& subject,
                                   const json::value* before, const json::value* after,
                                   const kube::ObjectPtr& space, Report& report);

    ServerState& state_;
    Policies policies_;
    Bindings bindings_;
};

}  // namespace muster::apiserver
