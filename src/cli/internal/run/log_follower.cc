#include "cli/internal/run/log_follower.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "cli/internal/run/line_splitter.h"

namespace muster::cli {

namespace {

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

/// How many instances of the container have started so far.
int instances(const ContainerView& container) {
    bool ever = container.running || container.terminated || container.last_terminated;
    return ever ? container.restarts + 1 : 0;
}

}  // namespace

LogFollower::LogFollower(kube::Client& client, TaskGroup& tasks, Screen& screen, Signal& changed,
                         std::string directory)
    : client_(client),
      tasks_(tasks),
      screen_(screen),
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
        // The waiting between two instances counts none that has not started.
        followed.started = std::max(
            followed.started, container.waiting_reason.empty() ? started : container.restarts + 1);
        if (!followed.open && followed.followed < followed.started) start(key);
    }
}

bool LogFollower::busy() const {
    return std::ranges::any_of(followed_, [](const auto& entry) { return entry.second.open; });
}

std::vector<std::string> LogFollower::last_lines(const std::string& pod_uid,
                                                 const std::string& container) const {
    auto it = followed_.find({pod_uid, container});
    if (it == followed_.end()) return {};
    return {it->second.last.begin(), it->second.last.end()};
}

void LogFollower::start(const Key& key) {
    Followed& followed = followed_.at(key);
    followed.open = true;
    followed.followed = followed.started;
    tasks_.spawn("log of " + followed.shown_name, follow(key));
}

std::FILE* LogFollower::open_file(const Followed& followed) {
    if (directory_.empty()) return nullptr;
    std::string path = directory_ + "/" + followed.file_name;
    std::FILE* file = std::fopen(path.c_str(), "ae");
    if (file == nullptr)
        problems_.push_back(system_error("keeping the log in " + path, errno).message());
    return file;
}

Task<void> LogFollower::follow(Key key) {
    // Nodes of the map stay where they are, and none is ever removed.
    Followed& followed = followed_.at(key);
    std::unique_ptr<std::FILE, CloseFile> file(open_file(followed));
    std::string prefix = screen_.log_prefix(followed.shown_name);
    std::string block;
    LineSplitter splitter([&](std::string_view line) {
        block += prefix;
        block += line;
        block += '\n';
        followed.last.emplace_back(line.substr(0, kKeptBytes));
        if (followed.last.size() > kKeptLines) followed.last.pop_front();
    });
    kube::LogOptions options;
    options.container = followed.container;
    options.follow = true;
    auto stream = co_await client_.logs(followed.namespace_, followed.pod, options);
    if (!stream)
        log::debug("a log can't be read",
                   {{"pod", followed.pod}, {"error", stream.error().message()}});
    while (stream) {
        auto piece = co_await (*stream)->read();
        if (!piece || !*piece) break;
        if (file) {
            std::fwrite((*piece)->data(), 1, (*piece)->size(), file.get());
            std::fflush(file.get());
        }
        splitter.add(**piece);
        if (!block.empty()) screen_.write_block(std::exchange(block, {}));
    }
    splitter.finish();
    if (!block.empty()) screen_.write_block(block);
    followed.open = false;
    if (followed.followed < followed.started) start(key);
    changed_.notify_all();
}

}  // namespace muster::cli
