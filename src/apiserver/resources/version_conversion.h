#pragma once

#include "apiserver/resources/resource_def.h"
#include "kube/values/document.h"
#include "store/object_text.h"

namespace muster::apiserver {

// Objects of a resource that a webhook converts stay as they are here
// (internal/conversions/webhook_versions.h).

/// A stored object in the definition's version: the same pointer unless apiVersion differs.
/// Versions of one resource have the same structure unless they have a conversion.
store::ObjectTextPtr in_version(const ResourceDef& def, store::ObjectTextPtr object);

/// A stored object as seen by a write through the definition's version: the same pointer if nothing
/// has to be converted.
kube::ObjectPtr before_write(const ResourceDef& def, kube::ObjectPtr stored);
/// The result of such a write, in the stored form.
kube::Document after_write(const ResourceDef& def, kube::Document written);

/// An object of a write through `from` as one of `to`, another version of the same resource.
kube::Document converted(const ResourceDef& from, const ResourceDef& to, const json::value& object);

}  // namespace muster::apiserver
