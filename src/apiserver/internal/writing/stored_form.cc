#include "apiserver/internal/writing/stored_form.h"

#include <algorithm>
#include <limits>

#include "apiserver/internal/conversions/webhook_versions.h"
#include "apiserver/objects/json_access.h"
#include "kube/values/text_size.h"

namespace muster::apiserver {

namespace {

constexpr std::size_t kMostObjectBytes = std::size_t{3} * 1024 * 1024;
constexpr std::size_t kGrowthOfLargeObjects = 4096;

StatusError too_large() {
    return {Error(Code::kTooLarge,
                  "the object would be larger than 3 MiB, with its defaults and managedFields"),
            {},
            false,
            {}};
}

bool is_too_large(const json::value& object, std::size_t most) {
    return kube::text_size(object, most) > most;
}

}  // namespace

StatusResult<void> check_size(const json::value& object) {
    if (is_too_large(object, kMostObjectBytes)) return too_large();
    return {};
}

StatusResult<void> check_size(const json::value& next, const json::value& current) {
    if (!is_too_large(next, kMostObjectBytes)) return {};
    const std::size_t before = kube::text_size(current, std::numeric_limits<std::size_t>::max());
    const std::size_t most = std::max(kMostObjectBytes, before + kGrowthOfLargeObjects);
    if (is_too_large(next, most)) return too_large();
    return {};
}

Task<StatusResult<kube::Document>> to_be_stored(ServerState& state, DefPtr def,
                                                kube::Document written) {
    const bool converted = def->webhook_conversion != nullptr;
    CO_TRY(kube::Document stored, co_await put_away(state, std::move(def), std::move(written)));
    if (converted) CO_TRY_VOID(check_size(stored.value()));
    co_return stored;
}

store::Store::Make with_revision(kube::Document object) {
    return [object = std::move(object)](store::Revision revision) mutable {
        ensure_object(object.object(), "metadata")["resourceVersion"] = std::to_string(revision);
        return std::move(object).share();
    };
}

}  // namespace muster::apiserver
