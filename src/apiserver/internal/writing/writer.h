#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/internal/admission/admission.h"
#include "apiserver/internal/server_state.h"
#include "apiserver/internal/writing/creation.h"
#include "apiserver/internal/writing/update_rules.h"
#include "apiserver/requests/request_options.h"
#include "apiserver/requests/router.h"

namespace muster::apiserver {

/// How a change of one object is committed.
struct RewriteOptions {
    bool dry_run = false;
    /// Who may object to what was decided; empty: it is the server's own write.
    Requester requester = {};
    /// Webhooks are called for a write with a subject.
    std::optional<AdmissionSubject> subject = {};
    /// The change is pure: of a large object the side thread calls it.
    bool pure = false;
    /// How much JSON the change reads besides the object.
    std::size_t bytes = 0;
    /// How the change records who owns what.
    Ownership ownership = {};
};

/// Creates, changes and removes objects: the rules decide, this commits, and starts again if
/// another write came in between.
class Writer {
  public:
    explicit Writer(ServerState& state)
        : state_(state), admission_(state), creation_(state, admission_) {}

    Task<StatusResult<WriteOutcome>> create(Target target, kube::ObjectPtr body, WriteQuery query);
    /// The server's own: an object of a built-in kind.
    Task<StatusResult<WriteOutcome>> create(const kube::ResourceType& type, std::string namespace_,
                                            json::object object);
    Task<StatusResult<WriteOutcome>> update(Target target, kube::ObjectPtr body, WriteQuery query);
    /// To be called after check_patch_type().
    Task<StatusResult<WriteOutcome>> patch(Target target, kube::ContentType type,
                                           kube::ObjectPtr patch, WriteQuery query);
    Task<StatusResult<WriteOutcome>> remove(Target target, DeleteQuery query);

    /// How a write is recorded in managedFields: kUntracked if they are not kept.
    Ownership ownership(const Target& target, const WriteQuery& query, Ownership::Kind kind) const;

    /// Decides what happens to the current state; called again for each state that it meets.
    using Change = std::function<StatusResult<NextState>(const json::value& current)>;
    /// Commits a change of one object. kNotFound if it does not exist.
    Task<StatusResult<WriteOutcome>> rewrite(DefPtr def, std::string namespace_, std::string name,
                                             Change change, RewriteOptions options = {});

  private:
    RewriteOptions updating(const Target& target, const WriteQuery& query,
                            const Ownership& owner) const;
    Task<StatusResult<WriteOutcome>> apply(Target target, kube::ObjectPtr configuration,
                                           WriteQuery query);
    /// Replaces `next` by the result of the mutating webhooks, as decided again, if they changed it.
    Task<StatusResult<void>> mutate_next(const AdmissionSubject& subject,
                                         const json::value& current, NextState& next,
                                         std::vector<std::string>& warnings);
    /// `bytes`: how large its text is.
    Task<kube::Document> copy_of(kube::ObjectPtr object, std::size_t bytes);

    ServerState& state_;
    Admission admission_;
    Creation creation_;
};

}  // namespace muster::apiserver
