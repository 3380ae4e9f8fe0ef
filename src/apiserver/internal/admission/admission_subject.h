#pragma once

#include <optional>
#include <string>

#include "apiserver/internal/admission/admission_review.h"
#include "apiserver/internal/admission/write_selection.h"
#include "apiserver/internal/expressions/admission_expression.h"
#include "apiserver/internal/server_state.h"
#include "apiserver/requests/request_options.h"
#include "apiserver/requests/router.h"
#include "kube/values/document.h"

namespace muster::apiserver {

/// A write that policies and webhooks have to admit.
struct AdmissionSubject {
    Operation operation = Operation::kCreate;
    Target target;
    Requester requester;
    bool dry_run = false;
};

/// It is about a policy, a webhook or the like, which can always be changed.
bool is_exempt(const AdmissionSubject& subject);
/// The name of the object; empty if it will be made up.
std::string name_in(const AdmissionSubject& subject, const json::value* after);
/// The definition of the version that was selected.
DefPtr seen_as(const Registry& registry, const AdmissionSubject& subject,
               const kube::ResourceType& type);

/// The write as it is selected, with what that refers to.
struct SubjectToMatch {
    SubjectToMatch(const ServerState& state, const AdmissionSubject& subject,
                   const json::value* before, const json::value* after);
    SubjectToMatch(const SubjectToMatch&) = delete;
    SubjectToMatch& operator=(const SubjectToMatch&) = delete;

    kube::ObjectPtr space;  ///< the namespace; null: there is none
    WriteToMatch write;
};

/// The objects of a write in another version; without those that are in the version of the request.
struct ConvertedObjects {
    std::optional<kube::Document> before;
    std::optional<kube::Document> after;
};
/// The same for the version in which someone sees the write. `before` and `after` may be null.
Task<StatusResult<ConvertedObjects>> objects_seen_as(ServerState& state,
                                                     const AdmissionSubject& subject, DefPtr as,
                                                     const json::value* before,
                                                     const json::value* after);

/// The write in the version in which someone sees it. The arguments outlive it.
class SeenWrite {
  public:
    SeenWrite(const AdmissionSubject& subject, const ResourceDef& as,
              const ConvertedObjects& converted, const json::value* before,
              const json::value* after);
    SeenWrite(const SeenWrite&) = delete;
    SeenWrite& operator=(const SeenWrite&) = delete;

    /// Without a uid. Refers to this and to its arguments.
    ReviewQuestion question() const;

  private:
    const AdmissionSubject& subject_;
    const ResourceDef& as_;
    std::string name_;
    const json::value* before_;
    const json::value* after_;
};

/// What expressions see of it. Refers to the documents of the question.
WriteInQuestion write_in(const ReviewQuestion& question);

}  // namespace muster::apiserver
