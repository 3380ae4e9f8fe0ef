#pragma once

#include <boost/json/value.hpp>

#include "base/result.h"
#include "kube/values/json.h"

namespace muster::kube {

class Schema;

// The three ways in which a PATCH describes a change. Each leaves its arguments unchanged and
// returns the changed document or an error.

/// RFC 6902. A failing `test` or a missing path is kInvalid, an ill-formed patch kBadRequest; more
/// than 10,000 operations, copies of more than 3 MiB in all, or a document nested deeper than 200
/// levels is kTooLarge.
Result<json::value> apply_json_patch(const json::value& target, const json::value& patch);

/// RFC 7386. A patch that is not an object is kBadRequest.
Result<json::value> apply_merge_patch(const json::value& target, const json::value& patch);
/// The merge patch that turns `from` into `to`; an empty object when they are equal. Both are
/// objects. A merge patch can't say null: a null member of `to` counts as absent.
json::value make_merge_patch(const json::value& from, const json::value& to);

/// Kubernetes' strategic merge (apimachinery pkg/util/strategicpatch): which lists merge and by
/// which key comes from the schema (`x-kubernetes-patch-merge-key`); where the schema says nothing,
/// objects merge and lists are replaced. Understands $patch, $retainKeys, $setElementOrder and
/// $deleteFromPrimitiveList; new items of a merged list go first, as on the real server. An invalid
/// directive is kBadRequest; a list item without its merge key is kInternal, as on the real server.
/// Items of one patch with the same key merge one after the other; kBadRequest where that is very
/// much work.
Result<json::value> apply_strategic_merge_patch(const json::value& target, const json::value& patch,
                                                const Schema& schema);

// The same, changing the target in place. After an error it may be half changed.

Result<void> merge_patch_into(json::value& target, const json::value& patch);
Result<void> strategic_merge_patch_into(json::value& target, const json::value& patch,
                                        const Schema& schema);

}  // namespace muster::kube
