#include "runtime/internal/files/volume_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "base/text_files.h"
#include "base/unique_fd.h"
#include "kube/objects/codec_impl.h"
#include "kube/values/json_access.h"
#include "runtime/internal/files/downward_api.h"

namespace muster::runtime {

namespace fs = std::filesystem;

namespace {

constexpr std::int32_t kDefaultMode = 0644;
constexpr std::uint32_t kOwnersMode = 0600;
constexpr std::int64_t kTokenSeconds = 3600;
constexpr std::string_view kTokenSource = "serviceAccountToken";

struct DownwardFile {
    std::string path;
    std::optional<kube::FieldSelector> field_ref;
    std::optional<kube::ResourceFieldSelector> resource_field_ref;
    std::optional<std::int32_t> mode;
};
BOOST_DESCRIBE_STRUCT(DownwardFile, (), (path, field_ref, resource_field_ref, mode))

/// For a volume, and for a source of a projected one.
struct DownwardSource {
    std::vector<DownwardFile> items;
    std::optional<std::int32_t> default_mode;
};
BOOST_DESCRIBE_STRUCT(DownwardSource, (), (items, default_mode))

struct TokenFile {
    std::string path;
    std::string audience;
    std::optional<std::int64_t> expiration_seconds;

    TokenWanted wanted() const {
        return {.audience = audience, .seconds = expiration_seconds.value_or(kTokenSeconds)};
    }
};
BOOST_DESCRIBE_STRUCT(TokenFile, (), (path, audience, expiration_seconds))

/// Its sources are read one by one.
struct ProjectedDefaults {
    std::optional<std::int32_t> default_mode;
};
BOOST_DESCRIBE_STRUCT(ProjectedDefaults, (), (default_mode))

std::uint32_t mode_or_default(std::optional<std::int32_t> mode,
                              std::optional<std::int32_t> otherwise = {}) {
    return static_cast<std::uint32_t>(mode.value_or(otherwise.value_or(kDefaultMode)));
}

Result<void> write_file(const fs::path& path, const VolumeFile& of) {
    UniqueFd file(::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600));
    if (!file) return system_error("making the file " + path.string(), errno);
    if (const int failed = write_all(file.get(), of.content); failed != 0)
        return system_error("writing " + path.string(), failed);
    if (of.owner && ::fchown(file.get(), *of.owner, static_cast<gid_t>(-1)) < 0)
        return system_error("giving away " + path.string(), errno);
    if (::fchmod(file.get(), of.mode) < 0)
        return system_error("setting the mode of " + path.string(), errno);
    return {};
}

/// The files of a ConfigMap or a Secret; none if it is optional and missing.
Result<VolumeFiles> files_of(const std::string& name, const std::vector<kube::KeyToPath>& items,
                             std::uint32_t mode, bool optional, const KeyValueObjects& objects,
                             std::string_view what) {
    VolumeFiles files;
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

Result<VolumeFiles> downward_files(const DownwardSource& source, std::uint32_t mode,
                                   const EnvironmentInput& input) {
    VolumeFiles files;
    for (const DownwardFile& item : source.items) {
        if (!stays_inside(item.path))
            return Error(Code::kInvalid, fmt::format("the path {} leaves the volume", item.path));
        VolumeFile file{.content = {}, .mode = item.mode ? mode_or_default(item.mode) : mode};
        if (item.field_ref) {
            TRY(file.content, volume_field_value(item.field_ref->field_path, input));
        } else if (item.resource_field_ref) {
            TRY(file.content, resource_value(nullptr, *item.resource_field_ref, input));
        }
        files[item.path] = std::move(file);
    }
    return files;
}

Result<VolumeFiles> token_file(const TokenFile& source, std::uint32_t mode,
                               const VolumeTokens& tokens) {
    if (!stays_inside(source.path))
        return Error(Code::kInvalid, fmt::format("the path {} leaves the volume", source.path));
    const auto token = tokens.texts.find(source.wanted());
    if (token == tokens.texts.end())
        return Error(Code::kUnsupported,
                     fmt::format("a {} can't be given, as pods have no API server here that "
                                 "knows them: remove that source",
                                 kTokenSource));
    const bool few = tokens.user || tokens.group;
    return VolumeFiles{
        {source.path,
         {.content = token->second, .mode = few ? kOwnersMode : mode, .owner = tokens.user}}};
}

Result<VolumeFiles> projected_files(const json::object& source, std::uint32_t mode,
                                    const EnvironmentInput& input, const VolumeTokens& tokens) {
    VolumeFiles files;
    for (const auto& [kind, value] : source) {
        if (value.is_null()) continue;
        if (kind == "configMap" || kind == "secret") {
            // Both have the same fields here.
            TRY(const auto from, kube::decode<kube::ConfigMapVolumeSource>(value));
            const bool secret = kind == "secret";
            TRY(files, files_of(from.name, from.items, mode, from.optional.value_or(false),
                                secret ? input.secrets : input.config_maps,
                                secret ? "secret" : "configmap"));
        } else if (kind == "downwardAPI") {
            TRY(const auto from, kube::decode<DownwardSource>(value));
            TRY(files, downward_files(from, mode, input));
        } else if (kind == kTokenSource) {
            TRY(const auto from, kube::decode<TokenFile>(value));
            TRY(files, token_file(from, mode, tokens));
        } else {
            return Error(Code::kUnsupported,
                         fmt::format("muster does not implement its source {}: use configMap, "
                                     "secret, downwardAPI or {}",
                                     std::string(kind), kTokenSource));
        }
    }
    return files;
}

std::vector<json::object> projected_sources(const kube::Volume& volume) {
    std::vector<json::object> objects;
    for (const json::object* source :
         kube::objects_at(kube::child(volume.rest, "projected"), "sources"))
        objects.push_back(*source);
    return objects;
}

void add_reference(const json::object& source, std::string_view kind,
                   std::set<std::string>& names) {
    const json::value* name = kube::child(source, kind).if_contains("name");
    if (name != nullptr && name->is_string()) names.emplace(name->get_string());
}

void add_references(const kube::Volume& volume, References& references) {
    for (const json::object& source : projected_sources(volume)) {
        add_reference(source, "configMap", references.config_maps);
        add_reference(source, "secret", references.secrets);
    }
    if (volume.config_map) references.config_maps.insert(volume.config_map->name);
    if (volume.secret) references.secrets.insert(volume.secret->secret_name);
}

}  // namespace

bool stays_inside(const fs::path& path) {
    if (path.empty() || path.is_absolute()) return false;
    return std::ranges::none_of(path, [](const fs::path& part) { return part == ".."; });
}

References references_of_volumes(const kube::Pod& pod) {
    References references;
    for (const kube::Volume& volume : pod.spec.volumes) add_references(volume, references);
    return references;
}

bool has_mounted_data(const kube::Volume& volume) {
    References references;
    add_references(volume, references);
    return !references.config_maps.empty() || !references.secrets.empty();
}

bool has_pod_fields(const kube::Volume& volume) {
    return volume.rest.contains("downwardAPI") ||
           std::ranges::any_of(projected_sources(volume), [](const json::object& source) {
               return source.contains("downwardAPI");
           });
}

bool has_tokens(const kube::Volume& volume) {
    return std::ranges::any_of(projected_sources(volume), [](const json::object& source) {
        return source.contains(kTokenSource);
    });
}

Result<std::set<TokenWanted>> tokens_wanted(const kube::Pod& pod) {
    std::set<TokenWanted> wanted;
    for (const kube::Volume& volume : pod.spec.volumes)
        for (const json::object& source : projected_sources(volume))
            if (const json::value* value = source.if_contains(kTokenSource);
                value != nullptr && !value->is_null()) {
                TRY(const auto file, kube::decode<TokenFile>(*value));
                wanted.insert(file.wanted());
            }
    return wanted;
}

Result<std::optional<VolumeFiles>> files_of_volume(const kube::Volume& volume,
                                                   const EnvironmentInput& input,
                                                   const VolumeTokens& tokens) {
    auto some = [](Result<VolumeFiles> files) -> Result<std::optional<VolumeFiles>> {
        if (!files) return files.error();
        return std::optional(*std::move(files));
    };
    if (volume.config_map) {
        const kube::ConfigMapVolumeSource& source = *volume.config_map;
        return some(files_of(source.name, source.items, mode_or_default(source.default_mode),
                             source.optional.value_or(false), input.config_maps, "configmap"));
    }
    if (volume.secret) {
        const kube::SecretVolumeSource& source = *volume.secret;
        return some(files_of(source.secret_name, source.items, mode_or_default(source.default_mode),
                             source.optional.value_or(false), input.secrets, "secret"));
    }
    if (const json::value* value = volume.rest.if_contains("downwardAPI")) {
        TRY(const auto source, kube::decode<DownwardSource>(*value));
        return some(downward_files(source, mode_or_default(source.default_mode), input));
    }
    const json::value* value = volume.rest.if_contains("projected");
    if (value == nullptr) return std::nullopt;
    TRY(const auto projected, kube::decode<ProjectedDefaults>(*value));
    VolumeFiles files;
    for (const json::object& source : projected_sources(volume)) {
        TRY(VolumeFiles more,
            projected_files(source, mode_or_default(projected.default_mode), input, tokens));
        // If two files have the same path, the later source wins.
        for (auto& [path, file] : more) files[path] = std::move(file);
    }
    return std::optional(std::move(files));
}

Result<void> write_atomically(const fs::path& directory, const VolumeFiles& files) {
    const fs::path link = directory / "..data";
    std::error_code error;
    const std::string before = fs::read_symlink(link, error).string();
    const std::string version = before == "..1" ? "..2" : "..1";
    // Left by a write that failed half-way.
    fs::remove_all(directory / version, error);
    if (!error) fs::create_directory(directory / version, error);
    if (!error) fs::permissions(directory / version, fs::perms(0755), error);
    if (error) return system_error("making " + (directory / version).string(), error.value());
    for (const auto& [path, file] : files) {
        const fs::path target = directory / version / path;
        fs::create_directories(target.parent_path(), error);
        if (error) return system_error("making " + target.parent_path().string(), error.value());
        TRY_VOID(write_file(target, file));
    }
    const fs::path next = directory / "..data_tmp";
    fs::remove(next, error);
    if (!error) fs::create_symlink(version, next, error);
    if (!error) fs::rename(next, link, error);
    for (const auto& [path, file] : files) {
        const fs::path first = *fs::path(path).begin();
        if (!error && !fs::is_symlink(directory / first))
            fs::create_symlink(fs::path("..data") / first, directory / first, error);
    }
    if (!error && !before.empty()) fs::remove_all(directory / before, error);
    if (error) return system_error("linking the files of " + directory.string(), error.value());
    return {};
}

}  // namespace muster::runtime
