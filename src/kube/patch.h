#pragma once

#include <boost/json/value.hpp>

#include "base/result.h"
#include "kube/json.h"

namespace muster::kube {

class Schema;

/// RFC 6902. A failing `test` or a missing path is kInvalid, an ill-formed patch kBadRequest.
Result<json::value> apply_json_patch(const json::value& target, const json::value& patch);

/// RFC 7386. A patch that is not an object is kBadRequest.
Result<json::value> apply_merge_patch(const json::value& target, const json::value& patch);
/// The merge patch that turns `from` into `to`; an empty object when they are equal.
json::value make_merge_patch(const json::value& from, const json::value& to);

/// Kubernetes' strategic merge: which lists merge and by which key comes from the schema
/// (`x-kubernetes-patch-merge-key`). Understands $patch, $retainKeys, $setElementOrder and
/// $deleteFromPrimitiveList; new items of a merged list go first, as the real server puts them.
Result<json::value> apply_strategic_merge_patch(const json::value& target, const json::value& patch,
                                                const Schema& schema);

}  // namespace muster::kube
