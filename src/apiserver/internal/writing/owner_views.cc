#include "apiserver/internal/writing/owner_views.h"

#include <boost/json/serialize.hpp>

#include "apiserver/internal/writing/field_tracking.h"
#include "apiserver/objects/json_access.h"
#include "kube/values/document.h"

namespace muster::apiserver {

namespace {

std::string text_of(const json::value& object) {
    json::value bare = kube::copy_of(object);
    if (json::object* meta = object_at(bare.get_object(), "metadata")) meta->erase("managedFields");
    return json::serialize(bare);
}

}  // namespace

OwnerViews::OwnerViews(const std::vector<DefPtr>& versions, std::string_view subresource) {
    for (const DefPtr& def : versions) {
        if (served_.size() == kMostVersions) break;
        served_.emplace(
            def->type.api_version(),
            Served{def,
                   {.schema = def->schema.get(), .ignored = &ignored_fields(*def, subresource)}});
    }
}

const kube::OwnerVersions::Version* OwnerViews::find(std::string_view api_version) const {
    const auto found = served_.find(api_version);
    return found == served_.end() ? nullptr : &found->second.version;
}

kube::ObjectPtr OwnerViews::convert(const json::value& object, std::string_view api_version) {
    const auto served = served_.find(api_version);
    if (served == served_.end()) return nullptr;
    const auto [known, is_new] =
        known_.try_emplace({std::string(api_version), text_of(object)}, nullptr);
    if (is_new) questions_.push_back({served->second.def, known->first.second});
    return known->second;
}

void OwnerViews::learn(const Question& question, kube::ObjectPtr made) {
    known_[{question.def->type.api_version(), question.text}] = std::move(made);
}

}  // namespace muster::apiserver
