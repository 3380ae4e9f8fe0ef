#pragma once

#include "master/master.h"
#include "master/service/services.h"

namespace muster::master {

/// Adds each service that a master with these options has.
void add_services(Services& services, const MasterOptions& options, const ServiceContext& context);

}  // namespace muster::master
