#include "operator/internal/cache/packed_status.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/check.h"
#include "kube/objects/codec.h"

namespace muster::operators {

namespace {

/// A status may have unknown fields, nested as deeply as a server accepts them.
json::parse_options as_encoded() {
    json::parse_options options;
    options.max_depth = 1000;
    options.allow_invalid_utf8 = true;
    return options;
}

}  // namespace

PackedStatus::PackedStatus(const jobs::JobStatus& status) {
    text_ = json::serialize(kube::encode(status));
    if (text_ == "{}") text_.clear();
    text_.shrink_to_fit();
}

jobs::JobStatus PackedStatus::unpack() const {
    jobs::JobStatus status;
    if (text_.empty()) return status;
    std::vector<Cause> problems;
    kube::decode_into(json::parse(text_, {}, as_encoded()), status, "status", problems);
    CHECK(problems.empty(), "what was encoded can be decoded");
    return status;
}

}  // namespace muster::operators
