#pragma once

#include "apiserver/resources/resource_def.h"
#include "kube/values/document.h"
#include "store/object_text.h"

namespace muster::apiserver {

/// A stored object as the definition's version shows it: the same pointer unless apiVersion
/// differs. Versions of one resource have one structure, unless they have a conversion.
store::ObjectTextPtr in_version(const ResourceDef& def, store::ObjectTextPtr object);

/// A stored object as a write through the definition's version meets it: the same pointer where
/// nothing has to be converted.
kube::ObjectPtr before_write(const ResourceDef& def, kube::ObjectPtr stored);
/// What such a write left, as it is stored.
kube::Document after_write(const ResourceDef& def, kube::Document written);

/// An object of a write through `from` as one through `to`, another version of the same resource.
kube::Document converted(const ResourceDef& from, const ResourceDef& to, const json::value& object);

}  // namespace muster::apiserver
