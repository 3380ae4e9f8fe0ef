#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "apiserver/resources/resource_def.h"
#include "base/time/clock.h"
#include "store/object_text.h"

namespace muster::apiserver_http {

// What a client gets of objects that it did not request in full: the rows of a Table, or only their
// metadata. Pure. Items are objects with a metadata object, as they are stored.

/// The metadata of an envelope around items.
struct ListMeta {
    std::string resource_version = {};                    ///< for one object, its own
    std::string continue_ = {};                           ///< empty: left out
    std::optional<std::size_t> remaining = std::nullopt;  ///< remainingItemCount
};

struct TableOptions {
    /// What a row has in addition to its cells (`includeObject`).
    enum class RowObject { kNone, kMetadata, kFull };
    RowObject row_object = RowObject::kMetadata;
    /// False for the later frames of a watch: a client has the columns from the first one.
    bool with_columns = true;
};

/// A meta.k8s.io/v1 Table with one row for each item. Ages are relative to `now`.
json::object make_table(const apiserver::ResourceDef& def,
                        std::span<const store::ObjectTextPtr> items, const ListMeta& meta,
                        const TableOptions& options, WallTime now);

/// One row of it.
json::object make_table_row(const apiserver::ResourceDef& def, const json::value& object,
                            TableOptions::RowObject row_object, WallTime now);

/// kind: PartialObjectMetadata.
json::object partial_metadata(const json::object& object);
/// kind: PartialObjectMetadataList.
json::object partial_metadata_list(std::span<const store::ObjectTextPtr> items,
                                   const ListMeta& meta);

}  // namespace muster::apiserver_http
