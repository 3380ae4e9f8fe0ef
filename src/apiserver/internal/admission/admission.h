#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/internal/admission/webhook.h"
#include "apiserver/internal/server_state.h"
#include "apiserver/requests/request_options.h"
#include "apiserver/requests/router.h"
#include "apiserver/requests/status_error.h"
#include "kube/values/document.h"

namespace muster::apiserver {

/// A write that webhooks are asked about.
struct AdmissionSubject {
    Operation operation = Operation::kCreate;
    Target target;
    Requester requester;
    bool dry_run = false;
    std::string manager = {};  ///< as whom what they change goes into managedFields
};

/// Asks the admission webhooks that MutatingWebhookConfigurations and
/// ValidatingWebhookConfigurations name. Objects of these two kinds are never asked about, so that
/// a wrong one can be removed.
///
/// A webhook that refuses gives the error; one that can't be reached or answers nonsense is
/// 500, or passed over where its failurePolicy says Ignore. Thread: the server's loop.
class Admission {
  public:
    explicit Admission(ServerState& state) : state_(state) {}

    /// Whether there is any configuration.
    bool in_use() const;

    /// What the mutating webhooks make of `after`; nullopt: what it was. `before` is null for a
    /// creation. What they warn of is added to `warnings`. All of it outlives the call.
    Task<StatusResult<std::optional<kube::Document>>> mutate(const AdmissionSubject& subject,
                                                             const json::value* before,
                                                             const json::value& after,
                                                             std::vector<std::string>& warnings);
    /// Whether the validating ones allow it. `after` is null for a deletion.
    Task<StatusResult<void>> validate(const AdmissionSubject& subject, const json::value* before,
                                      const json::value* after, std::vector<std::string>& warnings);

  private:
    /// A webhook, and as what it wants to see a write.
    struct Wanted {
        std::shared_ptr<const std::vector<Webhook>> configuration;
        const Webhook* webhook = nullptr;
        DefPtr seen_as;
    };
    std::vector<Wanted> wanted_by(const std::string& configurations,
                                  const AdmissionSubject& subject, const json::value* before,
                                  const json::value* after);
    std::shared_ptr<const std::vector<Webhook>> webhooks_of(const std::string& configurations,
                                                            const ObjectKey& key,
                                                            const CachedObject& cached);
    /// The JSON patch of its answer.
    Task<StatusResult<std::optional<json::value>>> ask(const Wanted& wanted,
                                                       const AdmissionSubject& subject,
                                                       const json::value* before,
                                                       const json::value* after, bool may_patch,
                                                       std::vector<std::string>& warnings);
    /// With the pod that a service stands for now.
    Result<WebhookEndpoint> reachable(WebhookEndpoint endpoint);
    StatusResult<void> failed(const Webhook& webhook, std::string_view why) const;

    struct Read {
        store::Revision revision = 0;
        std::shared_ptr<const std::vector<Webhook>> webhooks;
    };

    ServerState& state_;
    std::map<std::pair<std::string, ObjectKey>, Read> read_;  ///< configurations, as last read
};

}  // namespace muster::apiserver
