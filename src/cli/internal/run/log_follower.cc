#include "cli/internal/run/log_follower.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"
#include "cli/internal/run/line_splitter.h"
#include "kube/objects/api_status.h"

namespace muster::cli {

namespace {

/// Pause between tries to read a log when the connection to the server is broken; doubled each
/// time.
constexpr Duration kFirstPause = std::chrono::seconds(1);
constexpr Duration kLongestPause = std::chrono::seconds(30);

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

}  // namespace

LogFollower::LogFollower(kube::Client& client, Clock& clock, TaskGroup& tasks, Console& console,
                         Signal& changed, std::string directory)
    : client_(client),
      clock_(clock),
      tasks_(tasks),
      console_(console),
      changed_(changed),
      directory_(std::move(directory)) {}

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
            followed.shown_name = several ? pod.name + "/" + container.name : pod.name;
            followed.file_name =
                pod.namespace_ + "_" + pod.name + (several ? "_" + container.name : "") + ".log";
        }
        followed.started = std::max(followed.started, started);
        if (!followed.open && followed.followed < followed.started) start(key);
    }
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
    last.emplace_back(line.substr(0, kKeptBytes));
    if (last.size() > kKeptLines) last.pop_front();
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
    if (directory_.empty()) return nullptr;
    const std::string path = directory_ + "/" + followed.file_name;
    // What an earlier run has left there is replaced; the instances of this one follow each other.
    const bool first = begun_.insert(followed.file_name).second;
    const int fd = first ? open_new(path) : ::open(path.c_str(), kWrites | O_APPEND, kMode);
    std::FILE* file = fd < 0 ? nullptr : ::fdopen(fd, first ? "w" : "a");
    if (file == nullptr)
        problems_.push_back(system_error("keeping the log in " + path, errno).message());
    return file;
}

/// Reads the log of the instance that is followed to its end from `offset`, which moves along.
Task<Result<void>> LogFollower::read_from(const Followed& followed, std::size_t& offset,
                                          const Take& take) {
    kube::LogOptions options;
    options.container = followed.container;
    options.previous = followed.followed < followed.started;
    options.follow = !options.previous;
    CO_TRY(const auto stream, co_await client_.logs(followed.namespace_, followed.pod, options));
    std::size_t skipped = 0;
    for (;;) {
        CO_TRY(const std::optional<std::string> piece, co_await stream->read());
        if (!piece) co_return Result<void>();
        const std::size_t skip = std::min(piece->size(), offset - skipped);
        skipped += skip;
        if (skip == piece->size()) continue;
        take(std::string_view(*piece).substr(skip));
        offset += piece->size() - skip;
        skipped = offset;
    }
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
        splitter.add(piece);
        if (!block.empty()) console_.write_block(std::exchange(block, {}));
    };
    std::size_t offset = 0;
    Duration pause = kFirstPause;
    for (;;) {
        const std::size_t before = offset;
        const Result<void> read = co_await read_from(followed, offset, take);
        if (read) break;
        tell_failure(followed, read.error());
        if (!kube::is_away(read.error())) break;
        if (offset > before) pause = kFirstPause;
        co_await clock_.sleep_for(pause);
        pause = std::min(pause * 2, kLongestPause);
        if (followed.followed < followed.started - 1) break;
    }
    splitter.finish();
    if (!block.empty()) console_.write_block(block);
}

}  // namespace muster::cli
