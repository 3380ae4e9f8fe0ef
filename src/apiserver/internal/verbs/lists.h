#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/requests/request_options.h"
#include "apiserver/requests/router.h"
#include "apiserver/requests/status_error.h"
#include "apiserver/watching/watch_cache.h"
#include "base/async/async.h"

namespace muster::apiserver {

/// A page of a collection.
struct ListPage {
    std::vector<store::ObjectTextPtr> items;
    store::Revision revision = 0;
    std::string continue_;                 ///< empty on the last page
    std::optional<std::size_t> remaining;  ///< unknown if a selector is used
};

/// Objects in the version of the list, where that can't be done at once; null: they are in_version().
using ShowAll = std::function<Task<StatusResult<std::vector<store::ObjectTextPtr>>>(
    std::vector<store::ObjectTextPtr>)>;

/// Lists a collection. All pages of one list show the state at the first page's revision, which is
/// reconstructed from the current objects and the changes since; if those are no longer known, the
/// next page is refused with 410. That state is taken before the first suspension: objects are then
/// chosen from it in turns of the loop. Where selectors read more than names, objects are chosen
/// from what `show` makes of them; else those of the page are as they are stored.
Task<StatusResult<ListPage>> list_objects(const WatchCache& cache, Target target, ListQuery query,
                                          ShowAll show = nullptr);

/// The `kind: PodList` object around a page.
json::object list_envelope(const ResourceDef& def, const ListPage& page);

}  // namespace muster::apiserver
