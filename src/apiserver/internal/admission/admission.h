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

/// A write that webhooks have to admit.
struct AdmissionSubject {
    Operation operation = Operation::kCreate;
    Target target;
    Requester requester;
    bool dry_run = false;
    std::string manager = {};  ///< the manager of their changes in managedFields
};

/// Calls the admission webhooks named by MutatingWebhookConfigurations and
/// ValidatingWebhookConfigurations. They are never called about objects of these two kinds, so that
/// a wrong one can be removed.
///
/// The refusal of a webhook is the error; a webhook that can't be reached or gives an invalid
/// answer leads to 500, or is ignored if its failurePolicy is Ignore. Thread: the server's loop.
class Admission {
  public:
    explicit Admission(ServerState& state) : state_(state) {}

    /// Whether there is any configuration.
    bool in_use() const;

    /// The result of the mutating webhooks for `after`; nullopt: unchanged. `before` is null for a
    /// creation. Their warnings are added to `warnings`. All arguments outlive the call.
    Task<StatusResult<std::optional<kube::Document>>> mutate(const AdmissionSubject& subject,
                                                             const json::value* before,
                                                             const json::value& after,
                                                             std::vector<std::string>& warnings);
    /// Whether the validating webhooks allow it. `after` is null for a deletion.
    Task<StatusResult<void>> validate(const AdmissionSubject& subject, const json::value* before,
                                      const json::value* after, std::vector<std::string>& warnings);

  private:
    /// A webhook, and the version in which it wants to see a write.
    struct Wanted {
        std::shared_ptr<const std::vector<Webhook>> configuration;
        const Webhook* webhook = nullptr;
        DefPtr seen_as;
    };
    std::vector<Wanted> wanted_by(const std::string& configurations,
                                  const AdmissionSubject& subject, const json::value* before,
                                  const json::value* after);
    std::shared_ptr<const std::vector<Webhook>> webhooks_of(const std::string& configurations,
                                                            const NamespacedName& key,
                                                            const CachedObject& cached);
    /// The JSON patch of its answer.
    Task<StatusResult<std::optional<json::value>>> ask(const Wanted& wanted,
                                                       const AdmissionSubject& subject,
                                                       const json::value* before,
                                                       const json::value* after, bool may_patch,
                                                       std::vector<std::string>& warnings);
    /// Adds a pod that the service selects now.
    Result<WebhookEndpoint> reachable(WebhookEndpoint endpoint);
    StatusResult<void> failed(const Webhook& webhook, std::string_view why) const;

    struct Read {
        store::Revision revision = 0;
        std::shared_ptr<const std::vector<Webhook>> webhooks;
    };

    ServerState& state_;
    std::map<std::pair<std::string, NamespacedName>, Read> read_;  ///< parsed configurations
};

}  // namespace muster::apiserver
