#include "workloads/internal/pods/status_write.h"

#include "base/log.h"
#include "kube/values/equality.h"
#include "kube/values/json_access.h"

namespace muster::workloads {

Task<bool> write_status(kube::Client& client, kube::ResourceType type, kube::ObjectPtr object,
                        json::object status) {
    const json::object& known = object->get_object();
    if (kube::equal(kube::child(known, "status"), status)) co_return true;
    const kube::NamespacedName name = kube::namespaced_name_of(known);
    // With its revision a patch is refused where an update would be: 409 after another write.
    const json::value patch =
        json::array{{{"op", "add"},
                     {"path", "/metadata/resourceVersion"},
                     {"value", kube::string_at(kube::metadata_of(known), "resourceVersion")}},
                    {{"op", "add"}, {"path", "/status"}, {"value", std::move(status)}}};
    const auto written = co_await client.patch(type, name.namespace_, name.name,
                                               kube::ContentType::kJsonPatch, patch, "status");
    if (written || written.error().code() == Code::kNotFound) co_return true;
    if (written.error().code() != Code::kConflict)
        log::warning(
            "a status can't be written",
            {{"kind", type.kind}, {"object", name.text()}, {"error", written.error().message()}});
    co_return false;
}

}  // namespace muster::workloads
