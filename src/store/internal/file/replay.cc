#include "store/internal/file/replay.h"

#include <fmt/format.h>

#include <map>

namespace muster::store {

namespace {

/// The first row from which on every revision is there and every earlier state is known.
std::size_t window_begin(const std::vector<ChangeRow>& rows,
                         const std::vector<ObjectTextPtr>& before, std::size_t changes) {
    std::size_t begin = rows.size();
    while (begin > 0 && rows.size() - begin < changes) {
        const ChangeRow& row = rows[begin - 1];
        if (begin < rows.size() && row.revision + 1 != rows[begin].revision) break;
        if (row.previous != 0 && before[begin - 1] == nullptr) break;
        --begin;
    }
    return begin;
}

/// Revisions may be missing before the first remaining row, as they were compacted.
Revision floor_of(const std::vector<ChangeRow>& rows, std::size_t begin) {
    if (begin < rows.size()) return rows[begin].revision - 1;
    return rows.empty() ? 0 : rows.back().revision;
}

}  // namespace

std::expected<Replayed, RowDamage> replay(std::vector<ChangeRow> rows, HistoryLimit history) {
    Replayed done;
    std::vector<ObjectTextPtr> before(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const ChangeRow& row = rows[i];
        const ObjectState state = done.objects.find(row.key);
        const bool known = state.object != nullptr;
        // The row before may have been compacted, but nothing else can be missing in between.
        if (known ? state.revision != row.previous : row.deleted && row.previous == 0)
            return std::unexpected(RowDamage{
                fmt::format("row {} ({})", row.revision, describe(row.key)),
                known ? fmt::format("it follows row {}, but row {} is the newest before it",
                                    row.previous, state.revision)
                      : "it deletes what was not there"});
        if (known)
            done.superseded.push_back({row.revision, row.previous, state.object->text().size()});
        if (row.deleted) {
            done.superseded.push_back({row.revision, row.revision, row.object->text().size()});
            done.objects.erase(row.key);
        } else {
            done.objects.put(row.key, row.revision, row.object);
        }
        before[i] = state.object;
        done.revision = row.revision;
    }
    const std::size_t begin = window_begin(rows, before, history.changes);
    done.window = ChangeWindow(history, floor_of(rows, begin));
    for (std::size_t i = begin; i < rows.size(); ++i) {
        ChangeRow& row = rows[i];
        done.window.add({std::move(row.key.resource), row.revision, row.deleted,
                         std::move(row.object), std::move(before[i])});
    }
    return done;
}

}  // namespace muster::store
