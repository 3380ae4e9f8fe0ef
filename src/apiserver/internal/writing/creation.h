#pragma once

#include <string>
#include <vector>

#include "apiserver/internal/admission/admission.h"
#include "apiserver/internal/server_state.h"
#include "apiserver/internal/writing/field_tracking.h"
#include "apiserver/requests/decoding.h"
#include "apiserver/requests/request_options.h"
#include "apiserver/requests/router.h"

namespace muster::apiserver {

struct Surroundings;

/// The result of a write.
struct WriteOutcome {
    store::ObjectTextPtr object = nullptr;  ///< of a removal the final state
    bool created = false;
    bool removed = false;
    std::vector<std::string> warnings = {};
};

/// kUntracked if the server keeps no managedFields.
Ownership ownership_of(const ServerState& state, const Target& target, const WriteQuery& query,
                       Ownership::Kind kind);

/// Brings new objects into the store: their fields are set, rules, admission and quotas are asked.
/// Thread: the server's loop.
class Creation {
  public:
    Creation(ServerState& state, Admission& admission) : state_(state), admission_(admission) {}

    Task<StatusResult<WriteOutcome>> insert(Target target, DecodedObject decoded, WriteQuery query,
                                            Ownership ownership);

  private:
    /// Replaces `decoded` by the result of the mutating webhooks.
    Task<StatusResult<void>> mutate(const AdmissionSubject& subject, DecodedObject& decoded);
    /// Sets the fields of a new object that only the server can set.
    StatusResult<void> stamp(const Target& target, DecodedObject& decoded);
    /// The same, and defaults, owners of fields and what comes from other objects. Keep the result
    /// until the object is committed.
    Task<StatusResult<ServiceAddresses::Claim>> prepare(const Target& target,
                                                        DecodedObject& decoded,
                                                        const WriteQuery& query, Ownership owner,
                                                        const Surroundings& surroundings);
    /// Gives a new pod what comes from its service account; refuses it if there is none. Does
    /// nothing on a server without accounts for pods, or whose accounts have no tokens.
    Task<StatusResult<void>> give_account_to(Target target, json::object& pod, std::size_t bytes);
    /// Whether a new object that is complete may be stored.
    Task<StatusResult<void>> check_complete(const Target& target, const DecodedObject& decoded,
                                            const Surroundings& surroundings,
                                            const Requester& requester);

    ServerState& state_;
    Admission& admission_;
};

}  // namespace muster::apiserver
