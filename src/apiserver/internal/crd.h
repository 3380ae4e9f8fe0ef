#pragma once

#include <boost/json/object.hpp>
#include <vector>

#include "apiserver/internal/resource_def.h"

namespace muster::apiserver {

inline constexpr std::string_view kCrdCleanupFinalizer =
    "customresourcecleanup.apiextensions.k8s.io";

/// The served versions that a CustomResourceDefinition stands for. It was validated when it was
/// written.
std::vector<DefPtr> definitions_of(const json::object& crd);

/// True when two states of a stored CustomResourceDefinition stand for the same versions: whatever
/// changes its spec raises its generation.
bool declares_the_same(const json::object& crd, const json::object& before);

}  // namespace muster::apiserver
