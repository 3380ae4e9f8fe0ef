#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "apiserver/resources/resource_def.h"
#include "kube/schema/schema_pool.h"

namespace muster::apiserver {

inline constexpr std::string_view kCrdCleanupFinalizer =
    "customresourcecleanup.apiextensions.k8s.io";

/// The schemas that the validation of a CustomResourceDefinition parsed last, so that serving a new
/// one does not parse them again. They belong to the object with that uid only until it is served:
/// before that, only its creator can have it validated.
struct ReadDefinition {
    std::string uid;
    std::vector<kube::Schema::Ptr> schemas;  ///< as spec.versions; null: not parsed
    kube::SchemaPool parts;                  ///< of the schemas of all definitions
};

/// `last` outlives the rules.
Strategy crd_strategy(ReadDefinition& last);

/// The served versions of a CustomResourceDefinition. It was validated when it was written; `read`
/// is used if it belongs to this object.
std::vector<DefPtr> definitions_of(const json::object& crd, ReadDefinition& read);

/// Whether two states of a stored CustomResourceDefinition declare the same versions: every change
/// of its spec raises its generation.
bool declares_the_same(const json::object& crd, const json::object& before);

}  // namespace muster::apiserver
