#include "store/sqlite_store.h"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <deque>
#include <map>

#include "base/async/signal.h"
#include "base/log.h"
#include "base/time/loop_watch.h"
#include "store/internal/file/file_lock.h"
#include "store/internal/file/file_writer.h"
#include "store/internal/file/open_file.h"
#include "store/internal/table_store.h"

namespace muster::store {

namespace {

constexpr int kAppliedPerTurn = 64;

/// The loop's side: decides against what is queued, passes it to the FileWriter, and makes a change
/// visible when that says that it is on disk.
class SqliteStore final : public TableStore {
  public:
    SqliteStore(asio::any_io_executor executor, FileLock lock, OpenFile file,
                const SqliteStoreOptions& options)
        : TableStore(std::move(file.content.objects), std::move(file.content.window)),
          executor_(std::move(executor)),
          ended_(executor_),
          path_(file.writer->path()),
          has_room_(options.has_room),
          lock_(std::move(lock)),
          committed_(file.content.revision),
          begun_(committed_),
          writer_(std::make_unique<FileWriter>(
              std::move(file.writer), std::move(file.checkpointer),
              std::move(file.content.superseded),
              FileWriter::Settings{options.history, options.checkpoint_bytes,
                                   options.log_limit_bytes},
              listener())) {}
    ~SqliteStore() override { hand_over(); }
    SqliteStore(const SqliteStore&) = delete;
    SqliteStore& operator=(const SqliteStore&) = delete;

    Revision revision() const override { return committed_; }

    std::optional<Error> failure() const override {
        if (failure_) return failure_;
        if (full_ && looks_full()) return no_room();
        return std::nullopt;
    }

    Task<void> settled() override {
        if (!pending_.empty()) (void)co_await answer_of(pending_.back(), nullptr);
    }

    Task<void> stop() override {
        stopping_ = true;
        hand_over();
        if (writer_ != nullptr) writer_->end();
        while (writer_ != nullptr) co_await ended_.wait();
    }

  private:
    using Outcome = Result<StoredObject>;
    using Handler = asio::any_completion_handler<void(Outcome)>;

    /// A caller that waits until a write is on disk, with the answer: that it was done, or the
    /// error of a lost race against it.
    struct Waiter {
        Handler handler;
        std::unique_ptr<Error> lost;
    };
    /// A write that has its revision and is not on disk yet.
    struct Pending {
        StoreChange change;
        ObjectTextPtr before;
        std::vector<Waiter> waiters;
    };

    /// `this` may be gone when the posted function runs, but not while the writer's threads exist.
    FileWriter::Listener listener() {
        const auto on_loop = [this](auto call) {
            asio::post(executor_,
                       [alive = std::weak_ptr(alive_), call = std::move(call)]() mutable {
                           if (auto self = alive.lock()) call(**self);
                       });
        };
        return {
            .committed =
                [on_loop](Revision last) {
                    on_loop([last](SqliteStore& self) { self.on_committed(last); });
                },
            .failed =
                [on_loop](Error error) {
                    on_loop([error = std::move(error)](SqliteStore& self) mutable {
                        self.on_failed(std::move(error));
                    });
                },
            .ended = [on_loop] { on_loop([](SqliteStore& self) { self.on_ended(); }); },
        };
    }

    Result<void> check_running() const {
        if (failure_) return *failure_;
        if (stopping_) return Error(Code::kUnavailable, path_ + ": the store is stopped");
        return {};
    }

    Error no_room() const {
        return file_error(path_, "keeping something new", "the disk is nearly full",
                          "free some space there; what is there can still be changed and deleted");
    }
    bool looks_full() const {
        full_ = has_room_ != nullptr && !has_room_();
        return full_;
    }

    /// Including queued writes: the state on which the next write of the key builds.
    ObjectState newest(const StoreKey& key) const {
        auto queued = queued_.find(key);
        return queued == queued_.end() ? objects().find(key) : queued->second;
    }

    Task<Outcome> commit(Write write) override {
        CO_TRY_VOID(check_running());
        if (!write.expected && looks_full()) co_return no_room();
        ObjectState before = newest(write.key);
        if (Result<void> allowed = check(write, before); !allowed)
            co_return co_await lose(std::move(write.key), std::move(allowed.error()));
        StoreChange change = change_of(std::move(write), before, begun_ + 1);
        begun_ = change.revision;
        if (!working_) working_.emplace(executor_);
        const bool deletes = change.object == nullptr;
        queued_.insert_or_assign(change.key,
                                 ObjectState{change.revision, deletes ? nullptr : change.text});
        unwritten_.push_back(
            {.key = change.key,
             .revision = change.revision,
             .previous = before.object == nullptr ? 0 : before.revision,
             .deleted = deletes,
             .object = change.text,
             .previous_bytes = before.object == nullptr ? 0 : before.object->text().size()});
        begin_writing();
        pending_.push_back({std::move(change), std::move(before.object), {}});
        co_return co_await answer_of(pending_.back(), nullptr);
    }

    /// Immediately if writes come one by one. Otherwise with everything that the loop has ready
    /// now: writes in one transaction share its sync.
    void begin_writing() {
        if (pending_.empty() && together_ <= 1) return hand_over();
        if (unwritten_.size() > 1) return;
        asio::post(executor_, [alive = std::weak_ptr(alive_)] {
            if (auto self = alive.lock()) (*self)->hand_over();
        });
    }

    void hand_over() {
        if (unwritten_.empty()) return;
        together_ = unwritten_.size();
        writer_->append(std::exchange(unwritten_, {}));
    }

    /// A caller that reads again after a lost race finds the write that it lost against.
    Task<Outcome> lose(StoreKey key, Error error) {
        auto queued = queued_.find(key);
        if (queued == queued_.end()) co_return error;
        // Revisions have no gaps, so the queue is indexed by them.
        Pending& against = pending_[queued->second.revision - pending_.front().change.revision];
        co_return co_await answer_of(against, std::make_unique<Error>(std::move(error)));
    }

    static Task<Outcome> answer_of(Pending& pending, std::unique_ptr<Error> lost) {
        return asio::async_initiate<const asio::use_awaitable_t<>, void(Outcome)>(
            [&pending, lost = std::move(lost)](auto handler) mutable {
                pending.waiters.push_back({Handler(std::move(handler)), std::move(lost)});
            },
            asio::use_awaitable);
    }

    void on_committed(Revision last) {
        on_disk_ = last;
        if (!applying_) apply_some();
    }

    /// What is on disk becomes visible in turns: a large transaction would hold the loop.
    void apply_some() {
        works_for("changes that the store has written");
        for (int applied = 0; applied < kAppliedPerTurn && next_is_on_disk() && !turn_is_long();
             ++applied)
            apply_next();
        applying_ = next_is_on_disk();
        if (applying_)
            asio::post(executor_, [alive = std::weak_ptr(alive_)] {
                if (auto self = alive.lock()) (*self)->apply_some();
            });
        if (pending_.empty()) working_.reset();
    }

    /// False after a failure, too, when everything here has been refused.
    bool next_is_on_disk() const {
        return !pending_.empty() && pending_.front().change.revision <= on_disk_;
    }

    void apply_next() {
        Pending done = std::move(pending_.front());
        pending_.pop_front();
        const StoreChange& change = done.change;
        committed_ = change.revision;
        if (auto queued = queued_.find(change.key);
            queued != queued_.end() && queued->second.revision == change.revision)
            queued_.erase(queued);
        apply(change, std::move(done.before));
        const StoredObject stored{change.key, change.revision, change.text};
        for (Waiter& waiter : done.waiters) {
            if (waiter.lost != nullptr)
                answer(std::move(waiter.handler), std::move(*waiter.lost));
            else
                answer(std::move(waiter.handler), stored);
        }
    }

    void on_failed(Error error) {
        log::error("the store takes no more writes", {{"error", error.message()}});
        while (next_is_on_disk()) apply_next();
        failure_ = std::move(error);
        queued_.clear();
        begun_ = committed_;
        for (Pending& pending : std::exchange(pending_, {}))
            for (Waiter& waiter : pending.waiters) answer(std::move(waiter.handler), *failure_);
        working_.reset();
    }

    void on_ended() {
        while (next_is_on_disk()) apply_next();
        if (pending_.empty()) working_.reset();
        writer_.reset();
        lock_.reset();
        ended_.notify_all();
    }

    /// Never called directly: the caller may do anything in response, including with this store.
    void answer(Handler handler, Outcome outcome) {
        asio::post(executor_,
                   [handler = std::move(handler), outcome = std::move(outcome)]() mutable {
                       std::move(handler)(std::move(outcome));
                   });
    }

    asio::any_io_executor executor_;
    Signal ended_;
    std::string path_;
    std::function<bool()> has_room_;
    mutable bool full_ = false;  ///< at the last check
    std::optional<FileLock> lock_;
    Revision committed_;
    Revision on_disk_ = 0;  ///< the newest revision that the writer has reported
    bool applying_ = false;
    Revision begun_;  ///< the newest revision that was assigned
    std::deque<Pending> pending_;
    std::vector<ChangeRow> unwritten_;  ///< the newest of them, which the writer does not have yet
    std::size_t together_ = 0;          ///< how many it got the last time
    std::map<StoreKey, ObjectState> queued_;  ///< the newest of each key in `pending_`
    /// Keeps the loop running while a commit is awaited.
    std::optional<asio::executor_work_guard<asio::any_io_executor>> working_;
    std::optional<Error> failure_;
    bool stopping_ = false;
    std::shared_ptr<SqliteStore*> alive_ = std::make_shared<SqliteStore*>(this);
    std::unique_ptr<FileWriter> writer_;  // last: its threads call listener()
};

}  // namespace

Result<std::unique_ptr<Store>> open_sqlite_store(std::string path, SqliteStoreOptions options,
                                                 asio::any_io_executor executor) {
    TRY(FileLock lock, FileLock::take(path));
    TRY(OpenFile file, open_file(path, options));
    return std::make_unique<SqliteStore>(std::move(executor), std::move(lock), std::move(file),
                                         options);
}

}  // namespace muster::store
