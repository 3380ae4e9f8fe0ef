#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "store/internal/file/sqlite.h"
#include "store/store.h"

namespace muster::store {

/// One change as it is stored in the file.
struct ChangeRow {
    StoreKey key;
    Revision revision = 0;
    Revision previous = 0;  ///< of the row that it replaced; 0: none
    bool deleted = false;
    ObjectTextPtr object;            ///< for a deletion the final state
    std::size_t previous_bytes = 0;  ///< of that row's text; unknown, and 0, in what was read
};

/// The same as it was read, not parsed yet.
struct RawRow {
    StoreKey key;
    std::int64_t revision = 0;
    std::int64_t previous = 0;
    std::int64_t deleted = 0;
    ObjectTextPtr object;  ///< JSON, unless it is damaged
    std::int64_t checksum = 0;
};

/// Parameters and columns of both: those of the table, in order.
inline constexpr const char* kInsertRow =
    "INSERT INTO changes(revision, resource, namespace, name, previous, deleted, object, checksum)"
    " VALUES(?, ?, ?, ?, ?, ?, ?, ?)";
inline constexpr const char* kSelectRows =
    "SELECT revision, resource, namespace, name, previous, deleted, object, checksum FROM changes"
    " ORDER BY revision";

/// Runs kInsertRow.
Result<void> insert(Statement& statement, const ChangeRow& row);
/// The current row of a statement of kSelectRows.
RawRow raw_row(const Statement& statement);
/// What is wrong with a row, and with which.
struct RowDamage {
    std::string what;  ///< "row 17 (pods "a")"
    std::string why;
};
std::expected<ChangeRow, RowDamage> check_row(RawRow raw);

}  // namespace muster::store
