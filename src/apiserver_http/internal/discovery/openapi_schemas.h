#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "apiserver/resources/resource_def.h"
#include "kube/schema/schema.h"
#include "kube/values/json.h"

namespace muster::apiserver_http {

/// A reference to a component: `#/components/schemas/NAME`.
std::string component_path(std::string_view name);

/// The component that a kind's schema has in the document of its group version, as upstream calls
/// it: io.k8s.api.core.v1.Pod, org.kubeflow.v1.PyTorchJob.
std::string component_name(const apiserver::ResourceDef& def, std::string_view kind);

/// Of a body of any form: what a PATCH request carries.
inline constexpr std::string_view kPatchComponent = "io.k8s.apimachinery.pkg.apis.meta.v1.Patch";

/// Collects the components of one document. Structures of the built-in kinds become components of
/// their own, each once; those of custom resources are written out where they stand.
class SchemaComponents {
  public:
    /// Adds a kind and the list of it.
    void add(const apiserver::ResourceDef& def);
    json::object take() { return std::move(components_); }

  private:
    json::object write(const apiserver::ResourceDef& def, const kube::Schema& schema);
    json::object write_part(const apiserver::ResourceDef& def, const kube::Schema& schema);
    /// The name of a component that stands for the whole schema; "" for none.
    std::string shared_name(const apiserver::ResourceDef& def, const kube::Schema& schema);

    json::object components_;
};

}  // namespace muster::apiserver_http
