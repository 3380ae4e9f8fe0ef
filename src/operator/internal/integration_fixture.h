#pragma once

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "operator/internal/integrations/integrations.h"
#include "operator/internal/world_fixture.h"

namespace muster::operators {

/// A world on a cluster where other programs may handle jobs.
class IntegrationWorld {
  public:
    explicit IntegrationWorld(std::string gang_scheduler = "", std::uint64_t seed = 1);

    /// Makes the API serve a type of PodGroup.
    void define(IntegrationType type);
    void create(json::object job);
    /// The object of this type of the job "demo".
    std::optional<json::value> object(IntegrationType type);
    json::value spec(IntegrationType type);
    void edit(IntegrationType type, const std::function<void(json::object& object)>& change,
              const std::string& subresource = "");
    void set_group_phase(const std::string& phase);
    std::vector<std::string> conditions() { return summary(w.status("demo")); }
    /// The texts of the events about the job "demo".
    std::string events();
    void finish();

    World w;
    std::set<std::string> watched;    ///< plurals of the resources that the operator watches
    std::vector<std::string> writes;  ///< "PUT podgroups" but of pods, services, jobs and events
};

}  // namespace muster::operators
