#pragma once

#include <deque>
#include <vector>

#include "store/internal/change_window.h"
#include "store/internal/file/change_row.h"
#include "store/internal/object_tables.h"

namespace muster::store {

/// A row that is only history: it goes when the change `since` leaves the window.
struct Superseded {
    Revision since = 0;
    Revision row = 0;
};

/// What the rows of a file amount to.
struct Replayed {
    Revision revision = 0;
    ObjectTables objects;
    ChangeWindow window{0};
    std::deque<Superseded> superseded;  ///< by `since`
};

/// Rows are in revision order. The window holds at most `history` changes, and fewer where the
/// file does not know what was before. A row that does not follow from those before is damage.
std::expected<Replayed, RowDamage> replay(std::vector<ChangeRow> rows, std::size_t history);

}  // namespace muster::store
