#include "runtime/internal/volumes.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "kube/quantity.h"
#include "runtime/internal/unique_fd.h"

namespace muster::runtime {

namespace fs = std::filesystem;

namespace {

constexpr std::uint32_t kDefaultMode = 0644;

Result<void> make_directory(const fs::path& path, mode_t mode) {
    if (::mkdir(path.c_str(), 0755) < 0 && errno != EEXIST)
        return system_error("making the directory " + path.string(), errno);
    // Past the umask.
    if (::chmod(path.c_str(), mode) < 0)
        return system_error("setting the mode of " + path.string(), errno);
    return {};
}

Result<void> write_file(const fs::path& path, std::string_view content, mode_t mode) {
    UniqueFd file(::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600));
    if (!file) return system_error("making the file " + path.string(), errno);
    while (!content.empty()) {
        const ssize_t written = ::write(file.get(), content.data(), content.size());
        if (written < 0) return system_error("writing " + path.string(), errno);
        content.remove_prefix(static_cast<std::size_t>(written));
    }
    if (::fchmod(file.get(), mode) < 0)
        return system_error("setting the mode of " + path.string(), errno);
    return {};
}

/// A relative path that stays inside: no "..", nothing absolute.
bool stays_inside(const fs::path& path) {
    if (path.empty() || path.is_absolute()) return false;
    return std::ranges::none_of(path, [](const fs::path& part) { return part == ".."; });
}

/// The files of a ConfigMap or Secret volume. nullopt: optional and not there.
Result<std::map<std::string, VolumeFile>> files_of(const std::string& name,
                                                   const std::vector<kube::KeyToPath>& items,
                                                   std::optional<std::int32_t> default_mode,
                                                   bool optional, const KeyValueObjects& objects,
                                                   std::string_view what) {
    std::map<std::string, VolumeFile> files;
    const auto mode =
        static_cast<std::uint32_t>(default_mode.value_or(static_cast<std::int32_t>(kDefaultMode)));
    auto object = objects.find(name);
    if (object == objects.end()) {
        if (optional) return files;
        return Error(Code::kNotFound, fmt::format("{} \"{}\" not found", what, name));
    }
    if (items.empty()) {
        for (const auto& [key, content] : object->second) files[key] = {content, mode};
        return files;
    }
    for (const kube::KeyToPath& item : items) {
        auto entry = object->second.find(item.key);
        if (entry == object->second.end()) {
            if (optional) continue;
            return Error(Code::kNotFound,
                         fmt::format("references non-existent {} key: {}",
                                     what == "secret" ? "secret" : "config", item.key));
        }
        if (!stays_inside(item.path))
            return Error(Code::kInvalid, fmt::format("the path {} of key {} leaves the volume",
                                                     item.path, item.key));
        files[item.path] = {entry->second,
                            item.mode ? static_cast<std::uint32_t>(*item.mode) : mode};
    }
    return files;
}

Result<void> check_host_path(const kube::HostPathVolumeSource& source) {
    const fs::path path = source.path;
    if (!path.is_absolute())
        return Error(Code::kInvalid, fmt::format("hostPath {} is not absolute", source.path));
    struct stat info{};
    const bool exists = ::stat(path.c_str(), &info) == 0;
    const std::string& type = source.type;
    if (type == "DirectoryOrCreate" && !exists) {
        std::error_code error;
        fs::create_directories(path, error);
        if (error) return system_error("making the hostPath " + source.path, error.value());
        return {};
    }
    if (type == "FileOrCreate" && !exists) {
        UniqueFd file(::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
        if (!file) return system_error("making the hostPath " + source.path, errno);
        return {};
    }
    if (!exists)
        return Error(
            Code::kNotFound,
            fmt::format("hostPath {} does not exist on this machine: create it, or give the "
                        "volume the type DirectoryOrCreate",
                        source.path));
    const bool directory = S_ISDIR(info.st_mode);
    const bool right = type.empty() || (type.starts_with("Directory") && directory) ||
                       (type.starts_with("File") && S_ISREG(info.st_mode)) ||
                       (type == "Socket" && S_ISSOCK(info.st_mode)) ||
                       (type == "CharDevice" && S_ISCHR(info.st_mode)) ||
                       (type == "BlockDevice" && S_ISBLK(info.st_mode));
    if (!right)
        return Error(Code::kInvalid,
                     fmt::format("hostPath type check failed: {} is not a {}", source.path, type));
    return {};
}

Result<ReadyVolume> prepare_empty_dir(const kube::EmptyDirVolumeSource& source,
                                      const fs::path& path, bool tmpfs, ReadyVolumes& ready) {
    TRY_VOID(make_directory(path, 0777));
    if (source.medium == "Memory" && tmpfs) {
        MountSpec mount;
        mount.kind = MountSpec::Kind::kTmpfs;
        mount.target = path;
        mount.options = "mode=0777";
        if (!source.size_limit.is_null()) {
            TRY(kube::Quantity size, kube::Quantity::parse(source.size_limit));
            mount.options += fmt::format(",size={}", size.ceil_units());
        }
        ready.pod_mounts.push_back(std::move(mount));
    }
    return ReadyVolume{.path = path, .owned = true};
}

Result<ReadyVolume> prepare_volume(const kube::Volume& volume, const fs::path& directory,
                                   const KeyValueObjects& config_maps,
                                   const KeyValueObjects& secrets, bool tmpfs,
                                   ReadyVolumes& ready) {
    const fs::path path = directory / volume.name;
    if (volume.host_path) {
        TRY_VOID(check_host_path(*volume.host_path));
        return ReadyVolume{.path = volume.host_path->path};
    }
    if (volume.empty_dir) return prepare_empty_dir(*volume.empty_dir, path, tmpfs, ready);
    if (volume.config_map || volume.secret) {
        const bool secret = volume.secret.has_value();
        TRY(auto files,
            secret
                ? files_of(volume.secret->secret_name, volume.secret->items,
                           volume.secret->default_mode, volume.secret->optional.value_or(false),
                           secrets, "secret")
                : files_of(volume.config_map->name, volume.config_map->items,
                           volume.config_map->default_mode,
                           volume.config_map->optional.value_or(false), config_maps, "configmap"));
        TRY_VOID(make_directory(path, 0755));
        TRY_VOID(write_atomically(path, files));
        return ReadyVolume{.path = path, .owned = true, .read_only = true};
    }
    if (volume.rest.empty()) {  // the API's default source
        return prepare_empty_dir({}, path, tmpfs, ready);
    }
    return Error(Code::kUnsupported,
                 fmt::format("volume {} has the source {}, which muster does not implement: use "
                             "emptyDir, hostPath, configMap or secret",
                             volume.name, std::string(volume.rest.begin()->key())));
}

}  // namespace

References references_of_volumes(const kube::Pod& pod) {
    References references;
    for (const kube::Volume& volume : pod.spec.volumes) {
        if (volume.config_map) references.config_maps.push_back(volume.config_map->name);
        if (volume.secret) references.secrets.push_back(volume.secret->secret_name);
    }
    return references;
}

Result<ReadyVolumes> prepare_volumes(const kube::Pod& pod, const fs::path& directory,
                                     const KeyValueObjects& config_maps,
                                     const KeyValueObjects& secrets, bool tmpfs) {
    ReadyVolumes ready;
    for (const kube::Volume& volume : pod.spec.volumes) {
        auto prepared = prepare_volume(volume, directory, config_maps, secrets, tmpfs, ready);
        if (!prepared) {
            Error error = std::move(prepared.error());
            return error.prefix(fmt::format("volume {}", volume.name));
        }
        ready.by_name.emplace(volume.name, *std::move(prepared));
    }
    return ready;
}

Result<std::vector<MountSpec>> container_mounts(const kube::Container& container,
                                                const ReadyVolumes& volumes) {
    std::vector<MountSpec> mounts;
    for (const kube::VolumeMount& wanted : container.volume_mounts) {
        auto it = volumes.by_name.find(wanted.name);
        if (it == volumes.by_name.end())
            return Error(Code::kInvalid,
                         fmt::format("volumeMount {} of container {} names no volume "
                                     "of the pod",
                                     wanted.name, container.name));
        const ReadyVolume& volume = it->second;
        MountSpec mount;
        mount.source = volume.path;
        mount.target = wanted.mount_path;
        mount.owned = volume.owned;
        mount.read_only = volume.read_only || wanted.read_only.value_or(false);
        if (!mount.target.starts_with('/')) mount.target.insert(0, "/");
        while (mount.target.size() > 1 && mount.target.ends_with('/')) mount.target.pop_back();
        if (wanted.rest.contains("subPathExpr"))
            return Error(Code::kUnsupported,
                         fmt::format("subPathExpr of volumeMount {} is not implemented by muster: "
                                     "write the path as subPath",
                                     wanted.name));
        if (!wanted.sub_path.empty()) {
            if (!stays_inside(wanted.sub_path))
                return Error(Code::kInvalid, fmt::format("subPath {} of volumeMount {} must be a "
                                                         "relative path without '..'",
                                                         wanted.sub_path, wanted.name));
            const fs::path inside = volume.path / wanted.sub_path;
            std::error_code error;
            if (!fs::exists(inside, error)) fs::create_directories(inside, error);
            if (error) return system_error("making the subPath " + inside.string(), error.value());
            mount.source = inside;
        }
        mounts.push_back(std::move(mount));
    }
    return mounts;
}

Result<void> write_atomically(const fs::path& directory,
                              const std::map<std::string, VolumeFile>& files) {
    const std::string version = "..1";
    TRY_VOID(make_directory(directory / version, 0755));
    std::error_code error;
    for (const auto& [path, file] : files) {
        const fs::path target = directory / version / path;
        fs::create_directories(target.parent_path(), error);
        if (error) return system_error("making " + target.parent_path().string(), error.value());
        TRY_VOID(write_file(target, file.content, file.mode));
    }
    fs::create_symlink(version, directory / "..data", error);
    for (const auto& [path, file] : files) {
        const fs::path first = *fs::path(path).begin();
        if (!error && !fs::is_symlink(directory / first))
            fs::create_symlink(fs::path("..data") / first, directory / first, error);
    }
    if (error) return system_error("linking the files of " + directory.string(), error.value());
    return {};
}

}  // namespace muster::runtime
