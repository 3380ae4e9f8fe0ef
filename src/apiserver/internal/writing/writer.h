#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/internal/admission/admission.h"
#include "apiserver/internal/server_state.h"
#include "apiserver/internal/writing/update_rules.h"
#include "apiserver/requests/request_options.h"
#include "apiserver/requests/router.h"

namespace muster::apiserver {

/// What a write left behind.
struct WriteOutcome {
    store::ObjectTextPtr object = nullptr;  ///< of a removal the final state
    bool created = false;
    bool removed = false;
    std::vector<std::string> warnings = {};
};

/// Creates, changes and removes objects: the rules decide, this commits, and begins again when
/// another write came between.
class Writer {
  public:
    explicit Writer(ServerState& state) : state_(state), admission_(state) {}

    Task<StatusResult<WriteOutcome>> create(Target target, kube::ObjectPtr body, WriteQuery query);
    Task<StatusResult<WriteOutcome>> update(Target target, kube::ObjectPtr body, WriteQuery query);
    /// After check_patch_type().
    Task<StatusResult<WriteOutcome>> patch(Target target, kube::ContentType type,
                                           kube::ObjectPtr patch, WriteQuery query);
    Task<StatusResult<WriteOutcome>> remove(Target target, DeleteQuery query);

    /// As whom a write goes into managedFields: kUntracked when they are not kept.
    Ownership ownership(const Target& target, const WriteQuery& query, Ownership::Kind kind) const;

    /// Decides what becomes of the current state; called again for each state that it meets.
    using Change = std::function<StatusResult<NextState>(const json::value& current)>;
    /// Commits a change of one object. kNotFound when it is not there. Webhooks are asked about
    /// what has a subject: what the server does by itself has none.
    Task<StatusResult<WriteOutcome>> rewrite(DefPtr def, std::string namespace_, std::string name,
                                             Change change, bool dry_run,
                                             std::optional<AdmissionSubject> subject = {});

  private:
    StatusResult<void> check_namespace(const Target& target, std::string_view name) const;
    /// Keep what it returns until the object is committed.
    StatusResult<ServiceAddresses::Claim> prepare(const Target& target, DecodedObject& decoded,
                                                  const Ownership& ownership);
    Task<StatusResult<WriteOutcome>> insert(Target target, DecodedObject decoded, WriteQuery query,
                                            Ownership::Kind ownership);
    Task<StatusResult<WriteOutcome>> apply(Target target, kube::ObjectPtr configuration,
                                           WriteQuery query);
    /// Gives a new pod what it has of its service account; refused when there is none. On a server
    /// whose accounts have no tokens it does nothing.
    Task<StatusResult<void>> give_account_to(Target target, json::object& pod);
    /// Nullopt while there are no webhooks.
    std::optional<AdmissionSubject> subject_of(Operation operation, const Target& target,
                                               const WriteQuery& query) const;
    /// What the mutating webhooks make of a new object, in the place of `decoded`.
    Task<StatusResult<void>> mutate_new(const AdmissionSubject& subject, DecodedObject& decoded);
    /// The same for a change, which is decided again if they changed it.
    Task<StatusResult<void>> mutate_next(const AdmissionSubject& subject,
                                         const json::value& current, NextState& next,
                                         std::vector<std::string>& warnings);
    std::string random_suffix();

    ServerState& state_;
    Admission admission_;
};

}  // namespace muster::apiserver
