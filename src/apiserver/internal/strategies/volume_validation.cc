#include "apiserver/internal/strategies/volume_validation.h"

#include "apiserver/internal/pod_validation/name_checks.h"
#include "apiserver/internal/pod_validation/volume_sources.h"
#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

std::set<std::string, std::less<>> check_volumes(const json::object& spec, const std::string& in,
                                                 FieldErrors& field_errors) {
    std::set<std::string, std::less<>> names;
    const json::array* volumes = array_at(spec, "volumes");
    if (volumes == nullptr) return names;
    for (std::size_t i = 0; i < volumes->size(); ++i) {
        const json::object* volume = (*volumes)[i].if_object();
        if (volume == nullptr) continue;
        const std::string field = fmt::format("{}.volumes[{}]", in, i);
        const std::size_t others = field_errors.size();
        check_volume_source(*volume, field, field_errors);
        const std::string_view name = string_at(*volume, "name");
        if (name.empty())
            field_errors.push_back(required(field + ".name"));
        else
            check_dns_label(name, field + ".name", field_errors);
        if (names.contains(name))
            field_errors.push_back(duplicate(field + ".name", json::value(name)));
        // A volume with which something is wrong can't be mounted.
        if (field_errors.size() == others) names.emplace(name);
    }
    return names;
}

}  // namespace muster::apiserver
