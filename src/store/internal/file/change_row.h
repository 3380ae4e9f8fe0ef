#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "store/internal/file/sqlite.h"
#include "store/store.h"

namespace muster::store {

/// One change as the file keeps it.
struct ChangeRow {
    StoreKey key;
    Revision revision = 0;
    Revision previous = 0;  ///< of the row whose place it took, 0: there was none
    bool deleted = false;
    ObjectTextPtr object;  ///< of a deletion the final state
};

/// The same as it was read, not looked into yet.
struct RawRow {
    StoreKey key;
    std::int64_t revision = 0;
    std::int64_t previous = 0;
    std::int64_t deleted = 0;
    ObjectTextPtr object;  ///< JSON, if nothing happened to it
    std::int64_t checksum = 0;
};

/// Parameters and columns of both: those of the table in their order.
inline constexpr const char* kInsertRow =
    "INSERT INTO changes(revision, resource, namespace, name, previous, deleted, object, checksum)"
    " VALUES(?, ?, ?, ?, ?, ?, ?, ?)";
inline constexpr const char* kSelectRows =
    "SELECT revision, resource, namespace, name, previous, deleted, object, checksum FROM changes"
    " ORDER BY revision";

/// Runs kInsertRow.
Result<void> insert(Statement& statement, const ChangeRow& row);
/// The row that the statement of kSelectRows stands on.
RawRow raw_row(const Statement& statement);
/// What is wrong with it, or the row.
struct RowDamage {
    std::string what;  ///< "row 17 (pods "a")"
    std::string why;
};
std::expected<ChangeRow, RowDamage> check_row(RawRow raw);

}  // namespace muster::store
