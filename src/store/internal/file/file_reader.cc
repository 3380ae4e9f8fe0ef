#include "store/internal/file/file_reader.h"

#include <fmt/format.h>

#include <deque>
#include <mutex>
#include <optional>

#include "store/internal/file/thread.h"

namespace muster::store {

namespace {

/// The threads take turns reading rows from the statement and parse them in parallel.
class ParallelRead {
  public:
    ParallelRead(const Connection& connection, Statement& statement)
        : connection_(connection), statement_(statement) {}

    /// Until there are no more rows or one was bad. Any number of threads in parallel.
    void work() {
        std::vector<RawRow> raw;
        for (;;) {
            raw.clear();
            std::size_t number = 0;
            {
                const std::lock_guard hold(mutex_);
                if (!take(raw)) return;
                number = batches_.size();
                batches_.emplace_back();
            }
            std::vector<ChangeRow> parsed;
            parsed.reserve(raw.size());
            for (RawRow& row : raw) {
                auto checked = check_row(std::move(row));
                if (!checked) {
                    const std::lock_guard hold(mutex_);
                    fail(damaged_file(connection_.path(), "reading " + checked.error().what,
                                      checked.error().why));
                    return;
                }
                parsed.push_back(*std::move(checked));
            }
            const std::lock_guard hold(mutex_);
            batches_[number] = std::move(parsed);
        }
    }

    /// After all threads have ended.
    Result<std::vector<ChangeRow>> rows() && {
        if (failed_) return *std::move(failed_);
        std::vector<ChangeRow> all;
        std::size_t count = 0;
        for (const auto& batch : batches_) count += batch.size();
        all.reserve(count);
        for (auto& batch : batches_)
            for (ChangeRow& row : batch) all.push_back(std::move(row));
        return all;
    }

  private:
    static constexpr std::size_t kBatchRows = 64;

    /// False if there is nothing left to do.
    bool take(std::vector<RawRow>& raw) {
        if (at_end_ || failed_) return false;
        while (raw.size() < kBatchRows) {
            Result<bool> found = statement_.step(fmt::format("reading after row {}", last_));
            if (!found) {
                fail(std::move(found.error()));
                return false;
            }
            if (!*found) {
                at_end_ = true;
                break;
            }
            raw.push_back(raw_row(statement_));
            last_ = raw.back().revision;
        }
        return !raw.empty();
    }

    void fail(Error error) {
        if (!failed_) failed_ = std::move(error);
    }

    const Connection& connection_;
    std::mutex mutex_;  // of all below
    Statement& statement_;
    std::int64_t last_ = 0;
    bool at_end_ = false;
    std::optional<Error> failed_;
    std::deque<std::vector<ChangeRow>> batches_;
};

Result<void> check_structure(Connection& connection) {
    constexpr std::string_view kWhat = "checking its structure";
    TRY(const std::string found, connection.text("PRAGMA quick_check(1)", kWhat));
    if (found != "ok") return damaged_file(connection.path(), kWhat, found);
    return {};
}

}  // namespace

Result<std::vector<ChangeRow>> read_changes(Connection& reader, Connection& checker,
                                            unsigned threads) {
    TRY(Statement statement, Statement::prepare(reader, kSelectRows, "reading"));
    Result<void> structure;
    ParallelRead read(reader, statement);
    {
        const Thread check("store check", [&] { structure = check_structure(checker); });
        std::vector<Thread> others;
        for (unsigned i = 1; i < threads; ++i)
            others.emplace_back("store read", [&read] { read.work(); });
        read.work();
    }
    // A bad row names its object, so its error is better than one about later rows.
    TRY(std::vector<ChangeRow> rows, std::move(read).rows());
    TRY_VOID(std::move(structure));
    return rows;
}

}  // namespace muster::store
