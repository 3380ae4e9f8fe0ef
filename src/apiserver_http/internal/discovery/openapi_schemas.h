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

/// The name of the component with a kind's schema in the document of its group version, as upstream
/// names it: io.k8s.api.core.v1.Pod, org.kubeflow.v1.PyTorchJob.
std::string component_name(const apiserver::ResourceDef& def, std::string_view kind);

/// A body of any form, as in a PATCH request.
inline constexpr std::string_view kPatchComponent = "io.k8s.apimachinery.pkg.apis.meta.v1.Patch";

/// Collects the components of one document. Structures of the built-in kinds become separate
/// components, each once; those of custom resources are written inline.
class SchemaComponents {
  public:
    /// Adds a kind and its list.
    void add(const apiserver::ResourceDef& def);
    json::object take() { return std::move(components_); }

  private:
    json::object write(const apiserver::ResourceDef& def, const kube::Schema& schema);
    json::object write_part(const apiserver::ResourceDef& def, const kube::Schema& schema);
    /// The name of a component that equals the schema; "" if there is none.
    std::string shared_name(const apiserver::ResourceDef& def, const kube::Schema& schema);

    json::object components_;
};

}  // namespace muster::apiserver_http
