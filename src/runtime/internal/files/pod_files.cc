#include "runtime/internal/files/pod_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "base/fields.h"
#include "base/log.h"
#include "base/unique_fd.h"
#include "kube/values/name_syntax.h"
#include "runtime/internal/files/retained_record.h"

namespace muster::runtime {

namespace fs = std::filesystem;

namespace {

constexpr const char* kResolvConfName = "resolv.conf";

}  // namespace

std::string hostname_of(const kube::Pod& pod) {
    std::string name = pod.spec.hostname.empty() ? pod.metadata.name : pod.spec.hostname;
    name.resize(std::min(name.size(), kube::kMaxLabelName));
    while (name.ends_with('-') || name.ends_with('.')) name.pop_back();
    return name;
}

/// None of the three parts contains the separator.
std::optional<PodName> pod_of_directory(std::string_view directory_name) {
    PodName pod;
    pod.namespace_ = take_field(directory_name, '_');
    pod.name = take_field(directory_name, '_');
    pod.uid = directory_name;
    if (pod.namespace_.empty() || pod.name.empty() || pod.uid.empty()) return std::nullopt;
    return pod;
}

PodFiles::PodFiles(HostsFiles& hosts, const fs::path& state_dir, fs::path logs_dir,
                   const kube::Pod& pod)
    : hosts_(hosts),
      uid_(pod.metadata.uid),
      directory_(
          state_dir / kPodsName /
          fmt::format("{}_{}_{}", pod.metadata.namespace_, pod.metadata.name, pod.metadata.uid)),
      logs_dir_(std::move(logs_dir)),
      logs_(logs_dir_.empty() ? directory_ / "logs" : log_directory_of(logs_dir_, pod)) {}

PodFiles::~PodFiles() {
    hosts_.remove(uid_);
    std::error_code ignored;
    fs::remove_all(directory_, ignored);
}

Result<void> PodFiles::make(const kube::Pod& pod) {
    if (!logs_dir_.empty())
        if (const Result<void> retained = retain_logs_of(logs_dir_, pod); !retained) {
            // The pod runs, and its logs go with it.
            log::warning("logs are not retained",
                         {{"pod", pod.metadata.name}, {"error", retained.error().message()}});
            logs_ = directory_ / "logs";
        }
    std::error_code error;
    fs::remove_all(volumes(), error);
    fs::create_directories(volumes(), error);
    if (!error) fs::create_directories(view(), error);
    if (error) return failure_to_make(error);
    for (const auto* containers : {&pod.spec.init_containers, &pod.spec.containers})
        for (const kube::Container& container : *containers)
            TRY_VOID(make_container(container.name));
    std::ofstream(directory_ / "hostname") << hostname_of(pod) << '\n';
    TRY(hosts_file_, hosts_.add(pod.metadata.namespace_, pod.metadata.name, uid_));
    return {};
}

Error PodFiles::failure_to_make(const std::error_code& error) const {
    return system_error("making the directories of a pod in " + directory_.string(), error.value());
}

Result<void> PodFiles::make_container(const std::string& name) {
    const PodDirectories own = of_container(name);
    std::error_code error;
    fs::create_directories(own.tmp, error);
    if (!error) fs::create_directories(own.scratch, error);
    if (!error) fs::create_directories(log(name, 0).parent_path(), error);
    if (error) return failure_to_make(error);
    ::chmod(own.tmp.c_str(), 01777);
    return {};
}

Result<void> PodFiles::take_over(const kube::Pod& pod) {
    TRY(hosts_file_, hosts_.add(pod.metadata.namespace_, pod.metadata.name, uid_));
    std::error_code error;
    if (fs::exists(directory_ / kResolvConfName, error))
        resolv_conf_ = directory_ / kResolvConfName;
    return {};
}

Result<void> PodFiles::write_resolv_conf(std::string_view text) {
    const fs::path path = directory_ / kResolvConfName;
    std::ofstream file(path);
    file << text;
    file.close();
    std::error_code error;
    // Regardless of the umask: the containers may run as another user.
    if (file) fs::permissions(path, fs::perms(0644), error);
    if (!file || error)
        return Error(Code::kInternal, fmt::format("the file {} can't be written", path.string()));
    resolv_conf_ = path;
    return {};
}

PodDirectories PodFiles::of_container(const std::string& name) const {
    const fs::path own = directory_ / "containers" / name;
    return {.hosts = hosts_file_,
            .hostname = directory_ / "hostname",
            .tmp = own / "tmp",
            .scratch = own / "scratch",
            .termination_log = own / "termination-log",
            .resolv_conf = resolv_conf_};
}

Result<void> PodFiles::begin_termination_log(const std::string& container) const {
    const fs::path path = of_container(container).termination_log;
    std::error_code ignored;
    fs::remove(path, ignored);
    UniqueFd file(::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600));
    if (!file || ::fchmod(file.get(), 0666) < 0)
        return system_error("making the file " + path.string(), errno);
    return {};
}

fs::path PodFiles::log(const std::string& container, int run) const {
    return logs_ / container / fmt::format("{}.log", run);
}

}  // namespace muster::runtime
