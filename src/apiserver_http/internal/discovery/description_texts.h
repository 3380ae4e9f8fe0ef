#pragma once

#include <string_view>

namespace muster::apiserver_http {

// A structure's name in the first column with what it is for, then its fields with what they say. A
// structure whose text is `= NAME` has that one's texts, and its own fields. "Here" is one machine,
// where pods are processes; a cluster does what the field says.

/// Of pods and what they consist of, of jobs' other objects, and of metadata. Every field that a
/// job's manifest may have is among these.
extern const std::string_view kPodTexts;
/// Of the kinds on which nothing of this server acts.
extern const std::string_view kStoredTexts;

}  // namespace muster::apiserver_http
