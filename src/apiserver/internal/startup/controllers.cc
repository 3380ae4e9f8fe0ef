#include "apiserver/internal/startup/controllers.h"

#include "apiserver/internal/controllers/authentication_config.h"
#include "apiserver/internal/controllers/disruption_controller.h"
#include "apiserver/internal/controllers/endpoints_controller.h"
#include "apiserver/internal/controllers/event_expiry.h"
#include "apiserver/internal/controllers/garbage_collector.h"
#include "apiserver/internal/controllers/pod_gc_controller.h"
#include "apiserver/internal/controllers/policy_status_controller.h"
#include "apiserver/internal/controllers/quota_controller.h"
#include "apiserver/internal/controllers/role_aggregation_controller.h"
#include "apiserver/internal/controllers/service_account_controller.h"
#include "apiserver/internal/extensions/extension_content.h"
#include "apiserver/internal/extensions/extension_controller.h"
#include "apiserver/internal/extensions/registration_controller.h"
#include "apiserver/internal/namespaces/namespace_controller.h"
#include "apiserver/internal/volumes/ephemeral_claims.h"
#include "apiserver/internal/volumes/volume_controller.h"
#include "apiserver/internal/volumes/volume_protection.h"

namespace muster::apiserver {

std::vector<std::unique_ptr<Controller>> make_controllers(ServerState& state, Writer& writer) {
    std::vector<std::unique_ptr<Controller>> all;
    if (state.options.cluster_controllers)
        all.push_back(std::make_unique<GarbageCollector>(state, writer));
    all.push_back(std::make_unique<NamespaceController>(
        state, writer, std::make_unique<ExtensionContent>(state, writer)));
    all.push_back(std::make_unique<RoleAggregationController>(state, writer));
    all.push_back(std::make_unique<QuotaController>(state, writer));
    all.push_back(std::make_unique<ServiceAccountController>(state, writer));
    all.push_back(std::make_unique<ExtensionController>(state, writer));
    all.push_back(std::make_unique<AuthenticationConfigController>(state, writer));
    if (state.options.event_ttl > Duration::zero())
        all.push_back(std::make_unique<EventExpiry>(state, writer));
    if (state.options.register_versions)
        all.push_back(std::make_unique<RegistrationController>(state, writer));
    if (!state.options.cluster_controllers) return all;
    if (!state.options.volumes.root.empty())
        all.push_back(std::make_unique<VolumeController>(state, writer));
    all.push_back(std::make_unique<EphemeralClaims>(state, writer));
    all.push_back(std::make_unique<VolumeProtection>(state, writer));
    all.push_back(std::make_unique<DisruptionController>(state, writer));
    all.push_back(std::make_unique<EndpointsController>(state, writer));
    all.push_back(std::make_unique<PodGCController>(state, writer));
    all.push_back(std::make_unique<PolicyStatusController>(state, writer));
    return all;
}

}  // namespace muster::apiserver
