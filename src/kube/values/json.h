#pragma once

#include <boost/json/fwd.hpp>
#include <memory>

namespace muster {

namespace json = boost::json;

namespace kube {

/// An object as the API stores and sends it. Shared and never changed after it was made, so that
/// one write is seen by every watcher without a copy.
using ObjectPtr = std::shared_ptr<const json::value>;

}  // namespace kube
}  // namespace muster
