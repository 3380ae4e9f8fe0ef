#include "cli/internal/run/log_follower.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"
#include "base/time/time_limit.h"
#include "cli/internal/run/line_splitter.h"
#include "kube/objects/api_status.h"

namespace muster::cli {

namespace {

/// Pause between tries to read a log when the connection to the server is broken, and how long the
/// end of a log may be known before the end of its container is; doubled each time.
constexpr Duration kFirstPause = std::chrono::seconds(1);
constexpr Duration kLongestPause = std::chrono::seconds(30);
/// How late a line may be shown, if the console gathers lines.
constexpr Duration kGather = std::chrono::milliseconds(20);

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

constexpr int kWrites = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
constexpr mode_t kMode = 0666;  ///< less the umask, as of any file that a user names

/// Its name is known in advance: what another user has made there, a link to a file of ours or a
/// file to read the log in, is removed and never written to.
int open_new(const std::string& path) {
    if (::unlink(path.c_str()) < 0 && errno != ENOENT) return -1;
    return ::open(path.c_str(), kWrites | O_EXCL, kMode);
}

/// How many instances of the container have started so far.
int instances(const ContainerView& container) {
    const bool ever = container.running || container.terminated || container.last_terminated;
    return ever ? container.restarts + 1 : 0;
}

std::string rank_of(const PodView& pod) {
    if (pod.replica_type.empty()) return pod.name;
    return pod.replica_index.empty() ? pod.replica_type
                                     : pod.replica_type + "-" + pod.replica_index;
}

}  // namespace

LogFollower::LogFollower(kube::Client& client, Clock& clock, TaskGroup& tasks, Console& console,
                         Signal& changed, Options options)
    : client_(client),
      clock_(clock),
      tasks_(tasks),
      console_(console),
      changed_(changed),
      options_(std::move(options)),
      seen_(tasks.executor()) {}

LogFollower::~LogFollower() = default;

void LogFollower::observe(const PodView& pod) {
    bool several = pod.containers.size() > 1;
    for (const ContainerView& container : pod.containers) {
        int started = instances(container);
        if (started == 0) continue;
        Key key(pod.uid, container.name);
        Followed& followed = followed_[key];
        if (followed.pod.empty()) {
            followed.namespace_ = pod.namespace_;
            followed.pod = pod.name;
            followed.container = container.name;
            followed.shown_name = options_.ranks ? rank_of(pod) : pod.name;
            if (several) followed.shown_name += "/" + container.name;
            followed.file_name =
                pod.namespace_ + "_" + pod.name + (several ? "_" + container.name : "") + ".log";
        }
        followed.started = std::max(followed.started, started);
        followed.ended = std::max(followed.ended, container.running ? started - 1 : started);
        if (!followed.open && followed.followed < followed.started) start(key);
    }
    seen_.notify_all();
}

void LogFollower::forget(const PodView& pod) {
    for (auto& [key, followed] : followed_)
        if (key.first == pod.uid) followed.ended = followed.started;
    seen_.notify_all();
}

bool LogFollower::busy() const {
    return std::ranges::any_of(followed_, [](const auto& entry) { return entry.second.open; });
}

std::vector<std::string> LogFollower::last_lines(const std::string& pod_uid,
                                                 const std::string& container, int instance) const {
    const auto it = followed_.find({pod_uid, container});
    if (it == followed_.end()) return {};
    const auto lines = it->second.last.find(instance);
    if (lines == it->second.last.end()) return {};
    return {lines->second.begin(), lines->second.end()};
}

void LogFollower::keep_line(std::deque<std::string>& last, std::string_view line, bool overwrites) {
    if (overwrites && line.empty()) return;
    if (overwrites && !last.empty()) last.pop_back();
    if (last.size() < kKeptLines) {
        last.emplace_back(line.substr(0, kKeptBytes));
        return;
    }
    std::string oldest = std::move(last.front());  // its memory serves the next one
    last.pop_front();
    oldest.assign(line.substr(0, kKeptBytes));
    last.push_back(std::move(oldest));
}

void LogFollower::start(const Key& key) {
    Followed& followed = followed_.at(key);
    followed.open = true;
    tasks_.spawn("log of " + followed.shown_name, follow(key),
                 [this, &followed](const std::string& what) {
                     tell_failure(followed, Error(Code::kInternal, what));
                     followed.open = false;
                     changed_.notify_all();
                 });
}

std::FILE* LogFollower::open_file(const Followed& followed) {
    if (options_.directory.empty()) return nullptr;
    const std::string path = options_.directory + "/" + followed.file_name;
    // What an earlier run has left there is replaced; the instances of this one follow each other.
    const bool first = begun_.insert(followed.file_name).second;
    const int fd = first ? open_new(path) : ::open(path.c_str(), kWrites | O_APPEND, kMode);
    std::FILE* file = fd < 0 ? nullptr : ::fdopen(fd, first ? "w" : "a");
    if (file == nullptr)
        problems_.push_back(system_error("keeping the log in " + path, errno).message());
    return file;
}

kube::LogOptions LogFollower::request_for(const Followed& followed) const {
    kube::LogOptions request;
    request.container = followed.container;
    request.previous = followed.followed < followed.started;
    request.follow = !request.previous;
    request.timestamps = true;
    return request;
}

/// Reads the log of the instance that is followed to its end, from where it was read to.
Task<Result<void>> LogFollower::read_from(const Followed& followed, Progress& progress,
                                          const Take& take) {
    kube::LogOptions request = request_for(followed);
    request.since_time = progress.bookmark.resume();
    CO_TRY(const auto stream,
           co_await client_.logs(followed.namespace_, followed.pod, std::move(request)));
    for (;;) {
        CO_TRY(const std::optional<std::string> piece, co_await stream->read());
        if (!piece) co_return Result<void>();
        last_line_at_ = clock_.now();
        progress.bytes += piece->size();
        take(progress.bookmark.add(*piece));
        const Instant next = pace_.next_read(*last_line_at_);
        if (next > *last_line_at_ && stream->gather()) co_await clock_.sleep_until(next);
    }
}

/// Many logs together have many lines at one time; they are written together.
void LogFollower::flush_soon() {
    if (!console_.gathers() || std::exchange(flushes_, true)) return;
    tasks_.spawn_essential("write the lines", flush_later());
}

Task<void> LogFollower::flush_later() {
    co_await clock_.sleep_for(kGather);
    flushes_ = false;
    console_.flush();
}

Task<bool> LogFollower::pause(Duration longest) {
    const auto seen = [this]() -> Task<bool> {
        co_await seen_.wait();
        co_return true;
    };
    co_return (co_await within(clock_, longest, seen())).has_value();
}

/// A log ends with its container, but a node also closes one that was idle for hours. The state of
/// the pod tells which it was, and mostly comes right after the log's end.
Task<bool> LogFollower::closed_early(const Followed& followed, Duration patience) {
    const Instant deadline = clock_.now() + patience;
    while (followed.followed > followed.ended && clock_.now() < deadline)
        (void)co_await pause(deadline - clock_.now());
    co_return followed.followed > followed.ended;
}

void LogFollower::tell_failure(Followed& followed, const Error& error) {
    // A pod that is gone was already reported (its node may be what is not found), and our own stop
    // is not a failure.
    const bool gone = error.code() == Code::kNotFound && error.message().starts_with("pods ");
    if (gone || error.code() == Code::kCancelled || followed.told) return;
    followed.told = true;
    console_.tell(
        {Tone::kBad,
         fmt::format("the log of pod {} can't be read{}: {}", followed.shown_name,
                     kube::is_away(error) ? " now, it is tried again" : "", error.message())});
}

/// The next instance to read is the newest one or the one before it: a server has no logs of others.
void LogFollower::choose_instance(Followed& followed) {
    const int missed = followed.started - 2 - followed.followed;
    if (missed > 0)
        console_.tell({Tone::kBad, fmt::format("{} started {} more times than could be followed; "
                                               "what it wrote then isn't shown",
                                               followed.shown_name, missed)});
    followed.followed = std::max(followed.followed + 1, followed.started - 1);
}

Task<void> LogFollower::follow(Key key) {
    // Nodes of the map don't move, and none is ever removed.
    Followed& followed = followed_.at(key);
    while (followed.followed < followed.started) {
        choose_instance(followed);
        co_await follow_instance(followed);
    }
    followed.open = false;
    changed_.notify_all();
}

Task<void> LogFollower::follow_instance(Followed& followed) {
    std::unique_ptr<std::FILE, CloseFile> file(open_file(followed));
    std::string prefix = console_.log_prefix(followed.shown_name);
    std::string block;
    std::deque<std::string>& last = followed.last[followed.followed - 1];
    while (followed.last.size() > kKeptInstances) followed.last.erase(followed.last.begin());
    LineSplitter splitter([&](std::string_view line, bool overwrites) {
        block += prefix;
        block += line;
        block += '\n';
        keep_line(last, line, overwrites);
    });
    const Take take = [&](std::string_view piece) {
        if (file) {
            std::fwrite(piece.data(), 1, piece.size(), file.get());
            std::fflush(file.get());
        }
        block.reserve(piece.size() + piece.size() / 2);  // with prefixes
        splitter.add(piece);
        if (block.empty()) return;
        console_.write_block(std::exchange(block, {}));  // many logs keep no room for one burst
        flush_soon();
    };
    Progress progress;
    Duration pause = kFirstPause;
    for (;;) {
        const std::size_t before = progress.bytes;
        const Result<void> read = co_await read_from(followed, progress, take);
        if (read && !co_await closed_early(followed, pause)) break;
        if (!read) tell_failure(followed, read.error());
        if (!read && !kube::is_away(read.error())) break;
        if (progress.bytes > before) pause = kFirstPause;
        if (!read) co_await clock_.sleep_for(pause);
        pause = std::min(pause * 2, kLongestPause);
        if (followed.followed < followed.started - 1) break;
    }
    splitter.finish();
    if (!block.empty()) console_.write_block(block);
}

}  // namespace muster::cli
