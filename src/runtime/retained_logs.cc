#include "runtime/retained_logs.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <tuple>

#include "base/parse_number.h"
#include "kube/values/json_access.h"
#include "kube/values/read_json.h"
#include "runtime/internal/files/log_reader.h"
#include "runtime/internal/files/retained_record.h"

namespace muster::runtime {

namespace fs = std::filesystem;

namespace {

/// Entries of a directory; none if it can't be read.
std::vector<fs::path> entries_of(const fs::path& directory) {
    std::vector<fs::path> entries;
    std::error_code failed;
    for (fs::directory_iterator entry(directory, failed), end; !failed && entry != end;
         entry.increment(failed))
        entries.push_back(entry->path());
    return entries;
}

/// Sizes and the last change of the log files of a pod.
void measure(RetainedPod& pod) {
    const auto add = [&pod](const fs::path& file) {
        struct stat info{};
        if (::stat(file.c_str(), &info) != 0) return;
        pod.bytes += static_cast<std::uint64_t>(info.st_size);
        const WallTime changed(std::chrono::seconds(info.st_mtim.tv_sec) +
                               std::chrono::nanoseconds(info.st_mtim.tv_nsec));
        pod.written = std::max(pod.written, changed);
    };
    add(pod.directory / kPodRecord);
    for (const std::string& container : pod.containers)
        for (const fs::path& file : entries_of(pod.directory / container)) add(file);
}

std::optional<RetainedPod> read_record(const fs::path& directory) {
    std::ifstream file(directory / kPodRecord);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    const std::optional<json::value> value = kube::read_json(text);
    if (!value || !value->is_object()) return std::nullopt;
    const json::object& record = value->get_object();
    RetainedPod pod;
    pod.namespace_ = kube::string_at(record, "namespace");
    pod.name = kube::string_at(record, "name");
    pod.uid = kube::string_at(record, "uid");
    pod.owner_uid = kube::string_at(record, "ownerUid");
    pod.containers = kube::strings_at(record, "containers");
    pod.directory = directory;
    if (const json::object* labels = kube::object_at(record, "labels"))
        for (const auto& [key, label] : *labels)
            if (const json::string* words = label.if_string())
                pod.labels.emplace(key, std::string(*words));
    measure(pod);
    return pod;
}

}  // namespace

std::vector<RetainedPod> list_retained_logs(const fs::path& logs_dir,
                                            const std::string& namespace_) {
    std::vector<RetainedPod> kept;
    for (const fs::path& ns : entries_of(logs_dir)) {
        if (!namespace_.empty() && ns.filename() != namespace_) continue;
        for (const fs::path& directory : entries_of(ns))
            if (std::optional<RetainedPod> pod = read_record(directory))
                kept.push_back(*std::move(pod));
    }
    return kept;
}

std::vector<RetainedPod> logs_over_limits(std::vector<RetainedPod> kept,
                                          const std::set<std::string>& alive,
                                          RetentionLimits limits, WallTime now) {
    std::ranges::sort(kept, std::greater(), &RetainedPod::written);
    std::vector<RetainedPod> over;
    std::uint64_t bytes = 0;
    for (const RetainedPod& pod : kept)
        if (alive.contains(pod.uid)) bytes += pod.bytes;
    for (RetainedPod& pod : kept) {
        if (alive.contains(pod.uid)) continue;
        bytes += pod.bytes;
        if (pod.written + limits.age < now || bytes > limits.bytes) over.push_back(std::move(pod));
    }
    return over;
}

std::vector<int> retained_instances(const RetainedPod& pod, const std::string& container) {
    std::vector<int> numbers;
    for (const fs::path& file : entries_of(pod.directory / container)) {
        if (file.extension() != ".log") continue;  // as are older parts of one log: "3.log.1"
        if (const auto number = parse_number<int>(file.stem().string())) numbers.push_back(*number);
    }
    std::ranges::sort(numbers);
    return numbers;
}

Result<std::unique_ptr<kube::TextStream>> open_retained_log(asio::any_io_executor executor,
                                                            const RetainedPod& pod, int instance,
                                                            kube::LogOptions options,
                                                            WallTime now) {
    const fs::path file = pod.directory / options.container / fmt::format("{}.log", instance);
    std::error_code ignored;
    if (!fs::exists(file, ignored))
        return Error(Code::kNotFound, fmt::format("no log of container {} of pod {} was kept",
                                                  options.container, pod.name));
    TRY(auto log, LogFile::open(std::move(executor), file));
    options.follow = false;
    return open_log(std::move(log), nullptr, options, now);
}

struct RetainedLogFollower::State {
    asio::any_io_executor executor;
    std::unique_ptr<LogWatch> watch;
    /// By pod, container and instance. Those that nothing reads any more are gone.
    std::map<std::tuple<std::string, std::string, int>, std::weak_ptr<LogFile>> open;
    std::set<std::tuple<std::string, std::string, int>> ended;
    bool all_ended = false;
};

RetainedLogFollower::RetainedLogFollower(std::unique_ptr<State> state) : state_(std::move(state)) {}
RetainedLogFollower::~RetainedLogFollower() = default;

Result<std::unique_ptr<RetainedLogFollower>> RetainedLogFollower::create(
    asio::any_io_executor executor) {
    TRY(auto watch, LogWatch::create(executor));
    return std::unique_ptr<RetainedLogFollower>(new RetainedLogFollower(
        std::unique_ptr<State>(new State{std::move(executor), std::move(watch), {}, {}})));
}

Result<std::unique_ptr<kube::TextStream>> RetainedLogFollower::open(const RetainedPod& pod,
                                                                    int instance,
                                                                    kube::LogOptions options,
                                                                    WallTime now) {
    const fs::path file = pod.directory / options.container / fmt::format("{}.log", instance);
    TRY(auto log, LogFile::follow(state_->executor, file));
    const std::tuple key(pod.uid, options.container, instance);
    if (state_->all_ended || state_->ended.contains(key)) log->finish();
    state_->open[key] = log;
    options.follow = true;
    return open_log(std::move(log), state_->watch.get(), options, now);
}

void RetainedLogFollower::end(const std::string& pod_uid, const std::string& container,
                              int instance) {
    const std::tuple key(pod_uid, container, instance);
    if (!state_->ended.insert(key).second) return;
    const auto open = state_->open.find(key);
    if (open == state_->open.end()) return;
    if (const auto log = open->second.lock()) log->finish();
}

void RetainedLogFollower::end_all() {
    state_->all_ended = true;
    for (const auto& [key, open] : state_->open)
        if (const auto log = open.lock()) log->finish();
}

Task<void> RetainedLogFollower::run() { return state_->watch->run(); }

}  // namespace muster::runtime
