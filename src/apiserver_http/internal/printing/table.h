#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/resources/resource_def.h"
#include "base/time/clock.h"

namespace muster::apiserver_http {

// What a client gets of objects that it did not request in full: the rows of a Table, or only their
// metadata. Pure. Objects are as they are stored, with metadata.

/// The metadata of an envelope around items.
struct ListMeta {
    std::string resource_version = {};                    ///< for one object, its own
    std::string continue_ = {};                           ///< empty: left out
    std::optional<std::size_t> remaining = std::nullopt;  ///< remainingItemCount
};

/// What a row of a table has in addition to its cells (`includeObject`).
enum class RowObject { kNone, kMetadata, kFull };
/// Nullopt for an invalid value.
std::optional<RowObject> row_object_of(std::string_view include_object);

/// A meta.k8s.io/v1 Table without its rows. Without columns for the later lines of a watch: a client
/// has them from the first one.
json::object table_head(const apiserver::ResourceDef& def, const ListMeta& meta, bool with_columns);
/// One row of it. Ages are relative to `now`.
json::object table_row(const apiserver::ResourceDef& def, const json::value& object,
                       RowObject row_object, WallTime now);
/// Appends the same as JSON; `text` is that of `object`, of which the row copies its part.
void append_table_row(std::string& row, const apiserver::ResourceDef& def, std::string_view text,
                      const json::value& object, RowObject row_object, WallTime now);

/// kind: PartialObjectMetadataList, without its items.
json::object partial_metadata_list_head(const ListMeta& meta);
/// kind: PartialObjectMetadata.
json::object partial_metadata(const json::object& object);
/// Appends the same as JSON, a copy of its part of an object's text.
void append_partial_metadata(std::string& partial, std::string_view text);

}  // namespace muster::apiserver_http
