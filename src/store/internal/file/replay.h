#pragma once

#include <deque>
#include <vector>

#include "store/internal/change_window.h"
#include "store/internal/file/change_row.h"
#include "store/internal/object_tables.h"

namespace muster::store {

/// A row that is only history: it is deleted when the change `since` leaves the window.
struct Superseded {
    Revision since = 0;
    Revision row = 0;
    std::size_t bytes = 0;  ///< of its object's text
};

/// The result of a file's rows.
struct Replayed {
    Revision revision = 0;
    ObjectTables objects;
    ChangeWindow window{{.changes = 0}};
    std::deque<Superseded> superseded;  ///< by `since`
};

/// Rows are in revision order. The window is within the limit, and smaller if the file does not
/// know the earlier states. A row that does not follow from those before is damage.
std::expected<Replayed, RowDamage> replay(std::vector<ChangeRow> rows, HistoryLimit history);

}  // namespace muster::store
