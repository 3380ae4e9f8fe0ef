#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "apiserver/resources/resource_def.h"
#include "kube/schema/schema_pool.h"

namespace muster::apiserver {

inline constexpr std::string_view kCrdCleanupFinalizer =
    "customresourcecleanup.apiextensions.k8s.io";

/// What the validation of a CustomResourceDefinition read last, so that serving a new one does not
/// read its schemas again. They are those of the object of that uid only until it is served:
/// before, only its creator can have it validated.
struct ReadDefinition {
    std::string uid;
    std::vector<kube::Schema::Ptr> schemas;  ///< as spec.versions; null: not read
    kube::SchemaPool parts;                  ///< of the schemas of all definitions
};

/// `last` outlives the rules.
Strategy crd_strategy(ReadDefinition& last);

/// The served versions that a CustomResourceDefinition stands for. It was validated when it was
/// written; `read` is used if it is of this object.
std::vector<DefPtr> definitions_of(const json::object& crd, ReadDefinition& read);

/// True when two states of a stored CustomResourceDefinition stand for the same versions: whatever
/// changes its spec raises its generation.
bool declares_the_same(const json::object& crd, const json::object& before);

}  // namespace muster::apiserver
