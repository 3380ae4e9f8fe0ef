#include "apiserver/object_rules.h"

#include "apiserver/internal/types/builtin_types.h"
#include "apiserver/internal/types/crd.h"
#include "apiserver/internal/writing/update_rules.h"
#include "apiserver/requests/decoding.h"
#include "apiserver/resources/registry.h"

namespace muster::apiserver {

std::vector<Cause> field_errors_of(const kube::ResourceType& type, const json::value& object) {
    ReadDefinition read;
    Registry builtin;
    for (DefPtr& def : builtin_types(read)) builtin.add(std::move(def));
    const DefPtr def = builtin.find(type.api_version(), type.plural);
    if (def == nullptr) return {};
    StatusResult<DecodedObject> decoded =
        decode_object(*def, kube::Document(object), kube::FieldValidation::kIgnore);
    if (!decoded) return {{"FieldValueInvalid", decoded.error().error.message(), {}}};
    if (def->strategy.apply_defaults != nullptr)
        def->strategy.apply_defaults(decoded->object.object());
    const StatusResult<void> valid = validate_new(*def, *decoded);
    return valid ? std::vector<Cause>() : valid.error().error.causes();
}

std::vector<BuiltInKind> built_in_kinds() {
    ReadDefinition read;
    std::vector<BuiltInKind> kinds;
    for (const DefPtr& def : builtin_types(read))
        if (def->stored && def->schema != nullptr)
            kinds.push_back({def->type, def->short_names, def->schema});
    return kinds;
}

}  // namespace muster::apiserver
