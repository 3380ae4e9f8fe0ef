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
    /// What the server itself gives an object before webhooks see it: defaults, owners of fields,
    /// and what comes from other objects.
    Task<StatusResult<Surroundings>> complete(const Target& target, DecodedObject& decoded,
                                              const Requester& requester, Ownership owner);
    /// Replaces `decoded` by the result of the mutating webhooks.
    Task<StatusResult<void>> mutate(const AdmissionSubject& subject, DecodedObject& decoded);
    /// What comes from other objects, after webhooks changed the object; whether that changed it.
    Task<StatusResult<bool>> admit_again(const AdmissionSubject& subject, DecodedObject& decoded);
    Task<StatusResult<Surroundings>> look_around(const Target& target, const json::object& object);
    /// Every namespace has it; one is too new, or someone has just deleted it.
    Task<StatusResult<void>> make_default_account(std::string space);
    /// Sets the fields of a new object that only the server can set.
    StatusResult<void> stamp(const Target& target, DecodedObject& decoded);
    /// The same, and what the kind's rules set. Keep the result until the object is committed.
    Task<StatusResult<ServiceAddresses::Claim>> prepare(const Target& target,
                                                        DecodedObject& decoded, std::size_t bytes);
    /// Whether a new object that is complete may be stored.
    Task<StatusResult<void>> check_complete(const Target& target, const DecodedObject& decoded,
                                            const Surroundings& surroundings,
                                            const Requester& requester);

    ServerState& state_;
    Admission& admission_;
};

}  // namespace muster::apiserver
