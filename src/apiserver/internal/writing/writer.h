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

struct Surroundings;

/// The result of a write.
struct WriteOutcome {
    store::ObjectTextPtr object = nullptr;  ///< of a removal the final state
    bool created = false;
    bool removed = false;
    std::vector<std::string> warnings = {};
};

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
};

/// Creates, changes and removes objects: the rules decide, this commits, and starts again if
/// another write came in between.
class Writer {
  public:
    explicit Writer(ServerState& state) : state_(state), admission_(state) {}

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
    StatusResult<void> check_namespace(const Target& target, std::string_view name) const;
    /// Sets the fields of a new object that only the server can set.
    StatusResult<void> stamp(const Target& target, DecodedObject& decoded);
    /// The same, and defaults, owners of fields and what comes from other objects. Keep the result
    /// until the object is committed.
    Task<StatusResult<ServiceAddresses::Claim>> prepare(const Target& target,
                                                        DecodedObject& decoded,
                                                        const WriteQuery& query, Ownership owner,
                                                        const Surroundings& surroundings);
    /// Whether a new object that is complete may be stored.
    Task<StatusResult<void>> check_complete(const Target& target, const DecodedObject& decoded,
                                            const Surroundings& surroundings,
                                            const Requester& requester);
    RewriteOptions updating(const Target& target, const WriteQuery& query) const;
    Task<StatusResult<WriteOutcome>> insert(Target target, DecodedObject decoded, WriteQuery query,
                                            Ownership::Kind ownership);
    Task<StatusResult<WriteOutcome>> apply(Target target, kube::ObjectPtr configuration,
                                           WriteQuery query);
    /// Gives a new pod what comes from its service account; refuses it if there is none. Does
    /// nothing on a server without accounts for pods, or whose accounts have no tokens.
    Task<StatusResult<void>> give_account_to(Target target, json::object& pod, std::size_t bytes);
    /// Nullopt if there are no webhooks.
    std::optional<AdmissionSubject> subject_of(Operation operation, const Target& target,
                                               const WriteQuery& query) const;
    /// Replaces `decoded` by the result of the mutating webhooks for a new object.
    Task<StatusResult<void>> mutate_new(const AdmissionSubject& subject, DecodedObject& decoded);
    /// The same for a change, which is decided again if they changed it.
    Task<StatusResult<void>> mutate_next(const AdmissionSubject& subject,
                                         const json::value& current, NextState& next,
                                         std::vector<std::string>& warnings);
    /// The result of a write through the definition's version in the stored form.
    Task<StatusResult<kube::Document>> to_be_stored(DefPtr def, kube::Document written);
    /// Takes room in the quotas for what a change adds, if there is room.
    StatusResult<Quotas::Claim> charge(const ResourceDef& def, const store::StoreKey& key,
                                       const json::value& before, const NextState& next,
                                       bool removed);
    /// `bytes`: how large its text is.
    Task<kube::Document> copy_of(kube::ObjectPtr object, std::size_t bytes);
    std::string random_suffix();

    ServerState& state_;
    Admission admission_;
};

}  // namespace muster::apiserver
