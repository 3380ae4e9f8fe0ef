#pragma once

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include "kube/values/json.h"

namespace muster::jobs {

// What makes a conversion lossless. A converter turns an object into one of another version, and
// its counterpart turns that back as well as the fields allow. The differences between what came
// back and what there was are the conversion data: a list of edits, each with what it expects to
// find, so that one whose place was edited meanwhile is left out.

/// The edits that turn `from` into `to`, the order of keys included; empty when they are the same
/// text.
json::array conversion_data(const json::value& from, const json::value& to);

/// Makes the edits that find what they expect; with `all_or_none`, none when one does not. What is
/// no such list changes nothing.
void apply_conversion_data(const json::array& edits, json::value& object, bool all_or_none);

}  // namespace muster::jobs
