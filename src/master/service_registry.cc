#include "master/service_registry.h"

#include <memory>

#include "master/kv/kv_service.h"
#include "master/node_check/node_check_service.h"
#include "master/ps_cluster/ps_service.h"

namespace muster::master {

void add_services(Services& services, const MasterOptions& options, const ServiceContext& context) {
    services.add(std::make_unique<KvService>(context));
    services.add(std::make_unique<PsService>(context));
    if (options.node_check)
        services.add(std::make_unique<NodeCheckService>(*options.node_check, context.job));
    for (const ServiceFactory& make : options.services) services.add(make(context));
}

}  // namespace muster::master
