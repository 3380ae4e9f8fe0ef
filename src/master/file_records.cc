#include "master/file_records.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cerrno>
#include <cstdio>
#include <functional>
#include <utility>

#include "base/async/signal.h"
#include "base/async/task_fault.h"
#include "base/text_files.h"
#include "base/unexpected.h"
#include "base/unique_fd.h"
#include "job_protocol/protocol.h"

namespace muster::master {
namespace {

Error failed(const std::string& path, const char* doing) {
    return system_error(path + ": " + doing, errno);
}

/// Empty if the file does not exist.
Result<std::string> read_all(const std::string& path) {
    const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) {
        if (errno == ENOENT) return std::string();
        return failed(path, "opening");
    }
    std::string text;
    std::array<char, 4096> bytes;
    for (;;) {
        const ssize_t size = read(file.get(), bytes.data(), bytes.size());
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) return failed(path, "reading");
        if (size == 0) return text;
        text.append(bytes.data(), static_cast<std::size_t>(size));
    }
}

/// Whenever this process is killed, the file has either the old text or the new one; once this has
/// returned, the new one.
Result<void> replace(const std::string& path, const std::string& text) {
    const std::string made = path + ".new";
    {
        const UniqueFd file(open(made.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
        if (!file) return failed(made, "opening");
        if (write_all(file.get(), text) != 0) return failed(made, "writing");
    }
    if (std::rename(made.c_str(), path.c_str()) != 0) return failed(path, "replacing");
    return {};
}

Result<JobRecord> parse_record(const std::string& path, const std::string& text) {
    if (text.empty()) return JobRecord();
    job::JobRecord wire;
    auto record = wire.ParseFromString(text)
                      ? job_protocol::from_wire(wire)
                      : Result<JobRecord>(Error(Code::kBadRequest, "it can't be read"));
    if (record) return record;
    return Error(Code::kInvalid, path + ": this is not the record of a job, or it is damaged: " +
                                     record.error().message() +
                                     "; move it away to reset the job's budgets");
}

/// From the record read under the lock to the one to write.
using Change = std::function<Result<JobRecord>(JobRecord)>;

Result<JobRecord> change(const std::string& path, const Change& by) {
    const std::string lock = path + ".lock";
    const UniqueFd locked(open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!locked) return failed(lock, "opening");
    while (flock(locked.get(), LOCK_EX) != 0)
        if (errno != EINTR) return failed(lock, "locking");
    TRY(const std::string text, read_all(path));
    TRY(JobRecord found, parse_record(path, text));
    TRY(JobRecord made, by(std::move(found)));
    TRY_VOID(replace(path, job_protocol::to_wire(made).SerializeAsString()));
    return made;
}

/// On the thread there is no one else to take an exception.
Result<JobRecord> contained_change(const std::string& path, const Change& by) {
    Result<JobRecord> made = JobRecord();
    const auto fault = contained("job record", [&] {
        TaskFault::strike("job record");
        made = change(path, by);
    });
    if (fault) return Error(Code::kInternal, path + ": " + *fault);
    return made;
}

}  // namespace

struct FileRecords::State {
    /// A piece of work for the thread; its result is passed back to the loop.
    struct Work {
        explicit Work(asio::any_io_executor its_loop) : loop(std::move(its_loop)), ended(loop) {}

        asio::any_io_executor loop;
        std::optional<Result<JobRecord>> outcome;
        Signal ended;
    };

    Task<Result<JobRecord>> run(Change by) {
        auto work = std::make_shared<Work>(co_await asio::this_coro::executor);
        // The thread touches nothing that the loop uses: the outcome is passed by post().
        asio::post(thread, [passed = work, path = path, by = std::move(by)]() mutable {
            auto outcome = contained_change(path, by);
            const asio::any_io_executor loop = passed->loop;
            asio::post(loop, [work = std::move(passed), outcome = std::move(outcome)]() mutable {
                work->outcome = std::move(outcome);
                work->ended.notify_all();
            });
        });
        while (!work->outcome) co_await work->ended.wait();
        co_return *std::move(work->outcome);
    }

    std::string path;
    asio::thread_pool thread{1};
};

FileRecords::FileRecords(std::string path, std::uint64_t first,
                         std::shared_ptr<const JobRecord> known)
    : first_(first), known_(std::move(known)), state_(std::make_unique<State>(std::move(path))) {}

FileRecords::~FileRecords() { state_->thread.join(); }

Task<Result<JobRecord>> FileRecords::claim() {
    return state_->run([first = first_, known = known_](JobRecord found) -> Result<JobRecord> {
        if (known && known->epoch > found.epoch) found = *known;
        found.epoch = found.epoch == 0 ? first : std::max(found.epoch, first) + 1;
        return found;
    });
}

Task<Result<void>> FileRecords::write(JobRecord record) {
    const auto written = co_await state_->run([record = std::move(record)](
                                                  const JobRecord& found) -> Result<JobRecord> {
        if (found.epoch != record.epoch)
            return Error(Code::kConflict, fmt::format("epoch {} has ended: epoch {} was claimed",
                                                      record.epoch, found.epoch));
        return record;
    });
    if (!written) co_return written.error();
    co_return Result<void>();
}

}  // namespace muster::master
