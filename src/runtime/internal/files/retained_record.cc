#include "runtime/internal/files/retained_record.h"

#include <fmt/format.h>

#include <boost/json/serialize.hpp>
#include <cerrno>
#include <fstream>

namespace muster::runtime {

namespace fs = std::filesystem;

namespace {

json::object record_of(const kube::Pod& pod) {
    json::object labels;
    for (const auto& [key, value] : pod.metadata.labels) labels[key] = value;
    json::array containers;
    for (const kube::Container& container : pod.spec.containers)
        containers.emplace_back(container.name);
    const kube::OwnerReference* owner = pod.metadata.controller();
    return {{"namespace", pod.metadata.namespace_},
            {"name", pod.metadata.name},
            {"uid", pod.metadata.uid},
            {"ownerUid", owner == nullptr ? std::string() : owner->uid},
            {"labels", std::move(labels)},
            {"containers", std::move(containers)}};
}

}  // namespace

fs::path log_directory_of(const fs::path& logs_dir, const kube::Pod& pod) {
    return logs_dir / pod.metadata.namespace_ /
           fmt::format("{}_{}", pod.metadata.name, pod.metadata.uid);
}

Result<void> retain_logs_of(const fs::path& logs_dir, const kube::Pod& pod) {
    const fs::path directory = log_directory_of(logs_dir, pod);
    std::error_code failed;
    fs::create_directories(directory, failed);
    if (!failed) fs::permissions(logs_dir, fs::perms::owner_all, failed);
    if (failed) return system_error("making the directory " + directory.string(), failed.value());
    const fs::path name = directory / kPodRecord;
    std::ofstream file(name);
    file << json::serialize(record_of(pod));
    file.close();
    if (!file) return system_error("writing " + name.string(), errno);
    return {};
}

}  // namespace muster::runtime
