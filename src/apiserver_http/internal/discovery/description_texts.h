#pragma once

#include <string_view>

namespace muster::apiserver_http {

// A structure's name in the first column with its description, then its fields with theirs. A
// structure whose text is `= NAME` has that one's texts, and its own fields. "Here" means one
// machine, where pods are processes; a cluster does what the field says.

/// Pods and what they consist of, other objects of jobs, and metadata. Every field that a job's
/// manifest may have is among these.
extern const std::string_view kPodTexts;
/// The kinds that this server only stores.
extern const std::string_view kStoredTexts;

}  // namespace muster::apiserver_http
