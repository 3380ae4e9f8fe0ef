#pragma once

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include "kube/values/json.h"

namespace muster::jobs {

// What makes a conversion lossless. A converter turns an object into one of another version, and
// its counterpart turns that back as well as the fields allow. The differences between that result
// and the original are the conversion data: a list of edits, each with the value that it expects to
// find, so that an edit is left out if its place was edited meanwhile.

/// The edits that turn `from` into `to`, including the order of keys; empty if both are the same
/// text.
json::array conversion_data(const json::value& from, const json::value& to);

/// Makes the edits that find what they expect; with `all_or_none`, none if one of them does not. If
/// `edits` is not such a list, nothing changes.
void apply_conversion_data(const json::array& edits, json::value& object, bool all_or_none);

}  // namespace muster::jobs
