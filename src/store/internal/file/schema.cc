#include "store/internal/file/schema.h"

#include <fmt/format.h>

namespace muster::store {

namespace {

// `previous` is the revision of the row that a change replaced, 0 if there was none.
constexpr const char* kSteps[] = {
    "CREATE TABLE changes("
    "revision INTEGER PRIMARY KEY, resource TEXT NOT NULL, namespace TEXT NOT NULL,"
    "name TEXT NOT NULL, previous INTEGER NOT NULL, deleted INTEGER NOT NULL,"
    "object BLOB NOT NULL, checksum INTEGER NOT NULL)",
};

constexpr std::string_view kWhat = "reading its version";

}  // namespace

std::span<const char* const> schema_steps() { return kSteps; }

Result<void> bring_up_to_date(Connection& connection, std::span<const char* const> steps) {
    const auto newest = static_cast<std::int64_t>(steps.size());
    TRY(const std::int64_t application, connection.number("PRAGMA application_id", kWhat));
    TRY(const std::int64_t version, connection.number("PRAGMA user_version", kWhat));
    TRY(const std::int64_t entries, connection.number("SELECT count(*) FROM sqlite_schema", kWhat));
    const bool is_new = application == 0 && version == 0 && entries == 0;
    if (!is_new && application != kApplicationId)
        return file_error(connection.path(), kWhat, "it is a database of another program",
                          "name another path, or move the file away to begin with an empty store",
                          Code::kUnsupported);
    if (version > newest)
        return file_error(connection.path(), kWhat,
                          fmt::format("it has version {}, and this program knows versions up to {}",
                                      version, newest),
                          "use the program that wrote it, or a newer one", Code::kUnsupported);
    if (version == newest) return {};

    const std::string what = fmt::format("bringing it from version {} to {}", version, newest);
    const std::string mark = fmt::format(
        "PRAGMA application_id = {}; PRAGMA user_version = {}; COMMIT", kApplicationId, newest);
    Result<void> done = connection.execute("BEGIN IMMEDIATE", what);
    for (std::int64_t step = version; step < newest && done; ++step)
        done = connection.execute(steps[static_cast<std::size_t>(step)], what);
    if (done) done = connection.execute(mark.c_str(), what);
    if (!done && sqlite3_get_autocommit(connection.handle()) == 0)
        (void)connection.execute("ROLLBACK", what);  // closing would do the same
    return done;
}

}  // namespace muster::store
