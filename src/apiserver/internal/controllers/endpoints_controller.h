#pragma once

#include <map>
#include <set>
#include <string>

#include "apiserver/internal/controllers/controller.h"
#include "apiserver/internal/controllers/controller_queue.h"
#include "apiserver/internal/endpoints/pod_endpoint.h"
#include "apiserver/internal/server_state.h"
#include "apiserver/internal/writing/writer.h"

namespace muster::apiserver {

/// Maintains the Endpoints and EndpointSlices of services with a selector. It remembers which pods
/// each service has, and finds the services of a pod by one label of their selectors, so a change of
/// a pod costs what concerns it.
class EndpointsController final : public Controller {
  public:
    EndpointsController(ServerState& state, Writer& writer);

    void recover(const StartingObject& object) override;
    void observe(const store::StoreChange& change, const kube::ObjectPtr& before) override;

  private:
    struct Service {
        kube::ObjectPtr object;
        kube::LabelSelector selector;
        PodEndpoints pods;
        bool has_pods = false;  ///< those that were there before it have been looked through
    };
    /// A namespace and a label (`key=value`).
    using Label = std::pair<std::string, std::string>;

    void put_service(const NamespacedName& key, kube::ObjectPtr service);
    /// Of all services of the namespace that are new, in one walk through its pods, in turns of the
    /// loop. What changes meanwhile is observed.
    Task<void> find_pods(std::string namespace_);
    /// Adds the names of those that ask for this label.
    void add_services_for(const std::string& namespace_, std::string_view label,
                          std::string_view value, std::set<std::string>& names) const;
    void remove_service(const NamespacedName& key);
    void observe_pod(const store::StoreChange& change, const kube::ObjectPtr& before);
    void put_pod(const NamespacedName& key, const std::string& pod_name, const json::object* pod);

    Task<StatusResult<void>> reconcile(NamespacedName key);
    Task<StatusResult<void>> write_endpoints(NamespacedName key, kube::ObjectPtr service,
                                             json::array subsets);
    Task<StatusResult<void>> write_slice(NamespacedName key, kube::ObjectPtr service, Slice slice);
    Task<StatusResult<void>> remove(const kube::ResourceType& type, NamespacedName key);
    Task<StatusResult<void>> create(const kube::ResourceType& type, std::string namespace_,
                                    json::object object);
    std::vector<Slice> slices_of(const NamespacedName& key) const;

    ServerState& state_;
    Writer& writer_;
    std::map<NamespacedName, Service> services_;
    std::map<Label, std::set<std::string>> by_label_;  ///< names of services
    /// The slices that are ours, by service.
    std::map<NamespacedName, std::set<std::string>> slices_;
    ControllerQueue<NamespacedName> queue_;
};

}  // namespace muster::apiserver
