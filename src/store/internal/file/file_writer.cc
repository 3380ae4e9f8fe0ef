#include "store/internal/file/file_writer.h"

#include <algorithm>
#include <condition_variable>
#include <iterator>
#include <mutex>
#include <optional>
#include <vector>

#include "base/async/task_fault.h"
#include "base/log.h"
#include "base/unexpected.h"
#include "store/internal/file/file_place.h"
#include "store/internal/file/thread.h"

namespace muster::store {

namespace {
constexpr std::size_t kRowsPerTransaction = 1000;
/// How many rows a transaction deletes in addition to two for each that it writes, the number that
/// a deletion makes superfluous: after the window was made smaller, it is reduced in small steps.
constexpr std::size_t kExtraDeletions = 64;
constexpr const char* kCommitting = "writing changes";
constexpr const char* kCheckpointing = "carrying the write-ahead log over";

std::size_t bytes_of(const std::deque<Superseded>& rows) {
    std::size_t bytes = 0;
    for (const Superseded& row : rows) bytes += row.bytes;
    return bytes;
}
}  // namespace

class FileWriter::Work {
  public:
    Work(std::unique_ptr<Connection> writer, std::unique_ptr<Connection> checkpointer,
         std::deque<Superseded> superseded, Settings settings, Listener listener)
        : writer_(std::move(writer)),
          checkpointer_(std::move(checkpointer)),
          superseded_(std::move(superseded)),
          superseded_bytes_(bytes_of(superseded_)),
          settings_(settings),
          listener_(std::move(listener)),
          place_(writer_->path()),
          next_checkpoint_(settings.checkpoint_bytes),
          thread_("store write", [this] { write_all(); }) {}

    void append(std::vector<ChangeRow> rows) {
        {
            const std::lock_guard hold(mutex_);
            if (queue_.empty())
                queue_.swap(rows);
            else
                std::ranges::move(rows, std::back_inserter(queue_));
        }
        for_writer_.notify_one();
    }

    void end() {
        {
            const std::lock_guard hold(mutex_);
            ending_ = true;
        }
        for_writer_.notify_one();
    }

  private:
    struct Statements {
        Statement begin;
        Statement commit;
        Statement insert;
        Statement remove;
    };

    // ---- the writer's thread ----

    void write_all() {
        {
            const Thread checkpoints("store checkpoint", [this] { checkpoint_all(); });
            const Result<void> written =
                contained_result("store write", [this] { return write_until_end(); });
            if (!written) {
                listener_.failed(written.error());
                discard_until_end();
            }
            const std::lock_guard hold(mutex_);
            writer_ended_ = true;
            for_checkpointer_.notify_one();
        }
        contained("closing the store's file", [this] { close(); });
        listener_.ended();
    }

    /// An exception is an error like any other of the file: it is unknown what is on disk.
    template <class Work>
    Result<void> contained_result(const char* name, Work work) {
        Result<void> done;
        const auto fault = contained(name, [&] { done = work(); });
        if (fault) return Error(Code::kInternal, writer_->path() + ": " + *fault);
        return done;
    }

    Result<void> write_until_end() {
        TRY(Statement begin, Statement::prepare(*writer_, "BEGIN IMMEDIATE", kCommitting));
        TRY(Statement commit, Statement::prepare(*writer_, "COMMIT", kCommitting));
        TRY(Statement insert, Statement::prepare(*writer_, kInsertRow, kCommitting));
        TRY(Statement remove,
            Statement::prepare(*writer_, "DELETE FROM changes WHERE revision = ?", kCommitting));
        Statements statements{std::move(begin), std::move(commit), std::move(insert),
                              std::move(remove)};
        sqlite3_wal_hook(writer_->handle(), &Work::on_log_grown, this);
        TRY(const std::int64_t page_size, writer_->number("PRAGMA page_size", kCommitting));
        page_size_ = static_cast<std::uint64_t>(page_size);
        std::vector<ChangeRow> batch;
        for (;;) {
            TRY(const bool more, next(batch));
            if (!more) return {};
            for (std::size_t at = 0; at < batch.size();) {
                TRY_VOID(keep_log_bounded());
                TRY(at, write(statements, batch, at));
                listener_.committed(batch[at - 1].revision);
            }
        }
    }

    /// Waits for rows to write. False if no more will come.
    Result<bool> next(std::vector<ChangeRow>& batch) {
        batch.clear();
        std::unique_lock hold(mutex_);
        for_writer_.wait(hold, [this] { return !queue_.empty() || ending_ || checkpoint_failed_; });
        if (checkpoint_failed_) return *checkpoint_failed_;
        batch.swap(queue_);
        return !batch.empty();
    }

    /// An administrator's sqlite3 may hold the file's lock for a while; nothing is written then, so
    /// trying again is safe.
    Result<void> begin(Statement& statement) {
        for (;;) {
            Result<void> begun = statement.run(kCommitting);
            if (begun || !writer_->was_busy() || is_ending()) return begun;
            log::warning("writes wait: another program holds the lock of the file",
                         {{"file", writer_->path()}});
        }
    }

    bool is_ending() {
        const std::lock_guard hold(mutex_);
        return ending_;
    }

    /// One transaction of the rows from `from` on: at least one row, and otherwise no more than
    /// fits between two checkpoints. Returns where it ended.
    Result<std::size_t> write(Statements& statements, const std::vector<ChangeRow>& rows,
                              std::size_t from) {
        TRY_VOID(begin(statements.begin));
        std::size_t end = from;
        std::uint64_t bytes = 0;
        do {
            const ChangeRow& row = rows[end++];
            TRY_VOID(insert(statements.insert, row));
            bytes += row.object->text().size();
            if (row.previous != 0) supersede({row.revision, row.previous, row.previous_bytes});
            if (row.deleted) supersede({row.revision, row.revision, row.object->text().size()});
        } while (end < rows.size() && end - from < kRowsPerTransaction &&
                 bytes < settings_.checkpoint_bytes);
        const Revision newest = rows[end - 1].revision;
        std::size_t left = 2 * (end - from) + kExtraDeletions;
        while (left-- > 0 && has_left_window(newest)) {
            statements.remove.bind(1, static_cast<std::int64_t>(superseded_.front().row));
            TRY_VOID(statements.remove.run(kCommitting));
            superseded_bytes_ -= superseded_.front().bytes;
            superseded_.pop_front();
        }
        TaskFault::strike("store write");
        TRY_VOID(statements.commit.run(kCommitting));
        TRY_VOID(place_.check());
        return end;
    }

    void supersede(Superseded row) {
        superseded_bytes_ += row.bytes;
        superseded_.push_back(row);
    }

    /// Whether the first of the superseded rows is to go.
    bool has_left_window(Revision newest) const {
        if (superseded_.empty() || superseded_.front().since == newest) return false;
        return superseded_bytes_ > settings_.history.bytes ||
               superseded_.front().since + settings_.history.changes <= newest;
    }

    static int on_log_grown(void* self, sqlite3*, const char*, int pages) {
        auto* work = static_cast<Work*>(self);
        work->log_bytes_ = static_cast<std::uint64_t>(pages) * work->page_size_;
        // SQLite can't be thrown through. What was committed is kept; the next commit asks again.
        contained("store log", [&] {
            TaskFault::strike("store log");
            work->want_checkpoint();
        });
        return SQLITE_OK;
    }

    void want_checkpoint() {
        const std::lock_guard hold(mutex_);
        if (log_bytes_ < next_checkpoint_) {
            // The log was restarted.
            if (log_bytes_ + settings_.checkpoint_bytes < next_checkpoint_)
                next_checkpoint_ = settings_.checkpoint_bytes;
            if (log_bytes_ < next_checkpoint_) return;
        }
        next_checkpoint_ = log_bytes_ + settings_.checkpoint_bytes;
        wanted_ = true;
        for_checkpointer_.notify_one();
    }

    /// The log starts over with the first write after a checkpoint that reached its end, which
    /// needs a checkpoint during which nothing is written.
    Result<void> keep_log_bounded() {
        if (log_bytes_ < settings_.log_limit_bytes) {
            waits_in_a_row_ = 0;
            return {};
        }
        if (++waits_in_a_row_ == 2)
            log::warning("the write-ahead log outgrows its limit: another program reads the file",
                         {{"file", writer_->path()}, {"bytes", log_bytes_}});
        std::unique_lock hold(mutex_);
        const std::uint64_t mine = started_ + 1;
        wanted_ = true;
        for_checkpointer_.notify_one();
        for_writer_.wait(hold, [&] { return done_ >= mine || checkpoint_failed_; });
        if (checkpoint_failed_) return *checkpoint_failed_;
        return {};
    }

    void discard_until_end() {
        std::unique_lock hold(mutex_);
        for_writer_.wait(hold, [this] { return ending_; });
        queue_.clear();
        failed_ = true;
    }

    /// After the checkpoints' thread has ended.
    void close() {
        // A file of another may lie at its path now.
        if (!failed_ && place_.check()) {
            // Anything that can't be carried over now is in the log for the next start.
            Result<void> carried = checkpoint(SQLITE_CHECKPOINT_TRUNCATE);
            if (carried)
                writer_->checkpoint_on_close();
            else
                log::warning("the write-ahead log was not carried over at the end",
                             {{"error", carried.error().message()}});
        }
        checkpointer_.reset();
        writer_.reset();
    }

    // ---- the checkpoints' thread ----

    void checkpoint_all() {
        std::unique_lock hold(mutex_);
        for (;;) {
            for_checkpointer_.wait(hold, [this] { return wanted_ || writer_ended_; });
            if (writer_ended_) return;
            wanted_ = false;
            const std::uint64_t mine = ++started_;
            hold.unlock();
            Result<void> carried = contained_result(
                "store checkpoint", [this] { return checkpoint(SQLITE_CHECKPOINT_PASSIVE); });
            hold.lock();
            if (!carried) checkpoint_failed_ = std::move(carried.error());
            done_ = mine;
            for_writer_.notify_one();
        }
    }

    Result<void> checkpoint(int mode) {
        TaskFault::strike("store checkpoint");
        const int code =
            sqlite3_wal_checkpoint_v2(checkpointer_->handle(), nullptr, mode, nullptr, nullptr);
        // Busy: another program is making a checkpoint, which is just as good.
        if (code == SQLITE_OK || (code & 0xff) == SQLITE_BUSY) return {};
        return checkpointer_->error(kCheckpointing);
    }

    std::unique_ptr<Connection> writer_;
    std::unique_ptr<Connection> checkpointer_;
    std::deque<Superseded> superseded_;
    std::size_t superseded_bytes_;
    const Settings settings_;
    const Listener listener_;
    const FilePlace place_;
    // Used by the writer's thread.
    std::uint64_t page_size_ = 0;
    std::uint64_t log_bytes_ = 0;
    int waits_in_a_row_ = 0;
    bool failed_ = false;

    std::mutex mutex_;  // of all below
    std::condition_variable for_writer_;
    std::condition_variable for_checkpointer_;  ///< separate, as most rows don't concern it
    std::vector<ChangeRow> queue_;
    bool ending_ = false;
    bool writer_ended_ = false;
    bool wanted_ = false;
    std::uint64_t started_ = 0;  ///< checkpoints
    std::uint64_t done_ = 0;
    std::optional<Error> checkpoint_failed_;
    std::uint64_t next_checkpoint_;

    Thread thread_;  // last: it uses all of the above
};

FileWriter::FileWriter(std::unique_ptr<Connection> writer, std::unique_ptr<Connection> checkpointer,
                       std::deque<Superseded> superseded, Settings settings, Listener listener)
    : work_(std::make_unique<Work>(std::move(writer), std::move(checkpointer),
                                   std::move(superseded), settings, std::move(listener))) {}

FileWriter::~FileWriter() { end(); }

void FileWriter::append(std::vector<ChangeRow> rows) { work_->append(std::move(rows)); }
void FileWriter::end() { work_->end(); }

}  // namespace muster::store
