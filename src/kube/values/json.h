#pragma once

#include <boost/json/fwd.hpp>
#include <memory>

namespace muster {

namespace json = boost::json;

namespace kube {

/// An object as the API stores and sends it. Shared and immutable once made, so that every watcher
/// sees a write without a copy.
using ObjectPtr = std::shared_ptr<const json::value>;

}  // namespace kube
}  // namespace muster
