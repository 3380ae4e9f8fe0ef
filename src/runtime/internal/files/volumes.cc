#include "runtime/internal/files/volumes.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <map>

#include "base/unique_fd.h"
#include "kube/objects/variable_references.h"
#include "kube/values/quantity.h"

namespace muster::runtime {

namespace fs = std::filesystem;

namespace {

Result<void> make_directory(const fs::path& path, mode_t mode) {
    if (::mkdir(path.c_str(), 0755) < 0 && errno != EEXIST)
        return system_error("making the directory " + path.string(), errno);
    // Regardless of the umask.
    if (::chmod(path.c_str(), mode) < 0)
        return system_error("setting the mode of " + path.string(), errno);
    return {};
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

/// Gives everything below `path` to the group, as a kubelet does (upstream: pkg/volume,
/// SetVolumeOwnership).
Result<void> give_to_group(const fs::path& path, gid_t group, bool read_only) {
    struct stat info{};
    if (::lstat(path.c_str(), &info) < 0) return system_error("looking at " + path.string(), errno);
    if (::lchown(path.c_str(), static_cast<uid_t>(-1), group) < 0)
        return system_error("giving " + path.string() + " to the fsGroup", errno);
    if (S_ISLNK(info.st_mode)) return {};
    mode_t mode = info.st_mode & 07777u;
    mode |= read_only ? 0440 : 0660;
    if (S_ISDIR(info.st_mode)) mode |= S_ISGID | 0110u;
    if (::chmod(path.c_str(), mode) < 0)
        return system_error("setting the mode of " + path.string(), errno);
    if (!S_ISDIR(info.st_mode)) return {};
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(path, error))
        TRY_VOID(give_to_group(entry.path(), group, read_only));
    if (error) return system_error("reading " + path.string(), error.value());
    return {};
}

Result<ReadyVolume> prepare_empty_dir(const kube::EmptyDirVolumeSource& source,
                                      const fs::path& path, const VolumeOptions& options,
                                      ReadyVolumes& ready) {
    const ReadyVolume volume{.path = path, .owned = true};
    // The pod's changes to it are kept.
    if (options.in_use) return volume;
    TRY_VOID(make_directory(path, 0777));
    if (source.medium == "Memory" && options.tmpfs) {
        pod_init::MountSpec mount;
        mount.kind = pod_init::MountSpec::Kind::kTmpfs;
        mount.target = path;
        mount.options = options.fs_group ? fmt::format("mode=02777,gid={}", *options.fs_group)
                                         : std::string("mode=0777");
        if (!source.size_limit.is_null()) {
            TRY(kube::Quantity size, kube::Quantity::parse(source.size_limit));
            mount.options += fmt::format(",size={}", size.ceil_units());
        }
        ready.pod_mounts.push_back(std::move(mount));
    } else if (options.fs_group) {
        TRY_VOID(give_to_group(path, *options.fs_group, false));
    }
    return volume;
}

/// Anybody may write into a directory that is made for a claim: its pods run as any user.
Result<void> make_claim_directory(const fs::path& path) {
    std::error_code error;
    if (fs::exists(path, error)) return {};
    fs::create_directories(path.parent_path(), error);
    if (error) return system_error("making " + path.parent_path().string(), error.value());
    return make_directory(path, 0777);
}

Result<ReadyVolume> prepare_claim(const kube::Volume& volume, const VolumeOptions& options) {
    const auto found = options.claims.find(volume.name);
    if (found == options.claims.end()) return Error(Code::kInternal, "its claim was not looked up");
    const ClaimDirectory& claim = found->second;
    if (!claim.path.is_absolute())
        return Error(Code::kInvalid,
                     fmt::format("the path {} of its volume is not absolute", claim.path.string()));
    if (claim.made && !options.in_use) TRY_VOID(make_claim_directory(claim.path));
    std::error_code error;
    if (!options.in_use && !fs::is_directory(claim.path, error))
        return Error(Code::kNotFound,
                     fmt::format("the directory {} of its claim does not exist on this machine: "
                                 "create it",
                                 claim.path.string()));
    return ReadyVolume{.path = claim.path, .owned = true, .read_only = claim.read_only};
}

/// Nullopt if the volume has no files.
Result<std::optional<ReadyVolume>> write_files(const kube::Volume& volume,
                                               const EnvironmentInput& input, const fs::path& path,
                                               const VolumeOptions& options) {
    TRY(const std::optional<VolumeFiles> files, files_of_volume(volume, input, options.tokens));
    if (!files) return std::nullopt;
    TRY_VOID(make_directory(path, 0755));
    TRY_VOID(write_atomically(path, *files));
    if (options.fs_group) TRY_VOID(give_to_group(path, *options.fs_group, true));
    return ReadyVolume{.path = path, .owned = true, .read_only = true};
}

Result<ReadyVolume> prepare_volume(const kube::Volume& volume, const EnvironmentInput& input,
                                   const fs::path& directory, const VolumeOptions& options,
                                   ReadyVolumes& ready) {
    const fs::path path = directory / volume.name;
    if (volume.host_path) {
        TRY_VOID(check_host_path(*volume.host_path));
        return ReadyVolume{.path = volume.host_path->path};
    }
    if (volume.empty_dir) return prepare_empty_dir(*volume.empty_dir, path, options, ready);
    TRY(std::optional<ReadyVolume> files, write_files(volume, input, path, options));
    if (files) return *std::move(files);
    if (volume.rest.contains("persistentVolumeClaim") || volume.rest.contains("ephemeral"))
        return prepare_claim(volume, options);
    if (volume.rest.empty()) {  // the API's default source
        return prepare_empty_dir({}, path, options, ready);
    }
    return Error(Code::kUnsupported,
                 fmt::format("muster does not implement its source {}: use emptyDir, hostPath, "
                             "persistentVolumeClaim, configMap, secret, downwardAPI or projected",
                             std::string(volume.rest.begin()->key())));
}

using Variables = std::map<std::string, std::string, std::less<>>;

/// The values of "KEY=value".
Variables variables_of(const std::vector<std::string>& environment) {
    Variables variables;
    for (const std::string& entry : environment) {
        const std::size_t equals = entry.find('=');
        variables.emplace(entry.substr(0, equals), entry.substr(equals + 1));
    }
    return variables;
}

/// The mounted path inside the volume; empty for the whole volume.
Result<std::string> sub_path_of(const kube::VolumeMount& mount, const Variables& environment) {
    std::string path = mount.sub_path;
    const json::value* expression = mount.rest.if_contains("subPathExpr");
    if (expression != nullptr && expression->is_string()) {
        std::optional<std::string> missing;
        auto expanded = kube::expand_variables(
            expression->get_string(),
            [&](std::string_view name) -> const std::string* {
                const auto found = environment.find(name);
                if (found != environment.end()) return &found->second;
                missing = name;
                return nullptr;
            },
            PATH_MAX);
        if (!expanded)
            return Error(Code::kInvalid, fmt::format("the subPathExpr of volumeMount {} is longer "
                                                     "than a path can be, {} bytes",
                                                     mount.name, PATH_MAX));
        path = *std::move(expanded);
        if (missing)
            return Error(Code::kInvalid, fmt::format("missing value for \"{}\" in the subPathExpr "
                                                     "of volumeMount {}",
                                                     *missing, mount.name));
    }
    if (!path.empty() && !stays_inside(path))
        return Error(Code::kInvalid, fmt::format("subPath {} of volumeMount {} must be a relative "
                                                 "path without '..'",
                                                 path, mount.name));
    path = fs::path(path).lexically_normal();
    while (path.ends_with('/')) path.pop_back();
    return path == "." ? std::string() : path;
}

}  // namespace

Result<ReadyVolumes> prepare_volumes(const EnvironmentInput& input, const fs::path& directory,
                                     const VolumeOptions& options) {
    ReadyVolumes ready;
    for (const kube::Volume& volume : input.pod.spec.volumes) {
        auto prepared = prepare_volume(volume, input, directory, options, ready);
        if (!prepared) {
            Error error = std::move(prepared.error());
            return error.prefix(fmt::format("volume {}", volume.name));
        }
        ready.by_name.emplace(volume.name, *std::move(prepared));
    }
    return ready;
}

Result<void> rewrite_volumes(const EnvironmentInput& input, const fs::path& directory,
                             const VolumeOptions& options, bool (*meant)(const kube::Volume&)) {
    Result<void> first;
    for (const kube::Volume& volume : input.pod.spec.volumes) {
        if (!meant(volume)) continue;
        auto written = write_files(volume, input, directory / volume.name, options);
        if (written || !first) continue;
        Error error = std::move(written.error());
        first = error.prefix(fmt::format("volume {}", volume.name));
    }
    return first;
}

Result<std::vector<pod_init::MountSpec>> container_mounts(
    const kube::Container& container, const std::vector<std::string>& environment,
    const ReadyVolumes& volumes) {
    std::vector<pod_init::MountSpec> mounts;
    // Few containers have a mount that asks for it.
    const bool expands = std::ranges::any_of(container.volume_mounts, [](const auto& mount) {
        return mount.rest.contains("subPathExpr");
    });
    const Variables variables = expands ? variables_of(environment) : Variables();
    for (const kube::VolumeMount& wanted : container.volume_mounts) {
        auto it = volumes.by_name.find(wanted.name);
        if (it == volumes.by_name.end())
            return Error(Code::kInvalid,
                         fmt::format("volumeMount {} of container {} names no volume "
                                     "of the pod",
                                     wanted.name, container.name));
        const ReadyVolume& volume = it->second;
        pod_init::MountSpec mount;
        mount.source = volume.path;
        mount.target = wanted.mount_path;
        mount.owned = volume.owned;
        mount.read_only = volume.read_only || wanted.read_only.value_or(false);
        if (!mount.target.starts_with('/')) mount.target.insert(0, "/");
        while (mount.target.size() > 1 && mount.target.ends_with('/')) mount.target.pop_back();
        TRY(mount.sub_path, sub_path_of(wanted, variables));
        mounts.push_back(std::move(mount));
    }
    return mounts;
}

}  // namespace muster::runtime
