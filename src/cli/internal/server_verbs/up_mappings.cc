#include "cli/internal/server_verbs/up_mappings.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "cli/internal/prepare/entrypoint_file.h"

namespace muster::cli {

namespace {

/// --supervise starts the server again, and nothing is left to read then.
Error no_standard_input() {
    return Error(Code::kInvalid,
                 "standard input can be read once only, and a server may start again: name a file");
}

Result<runtime::StandIns> read_stand_ins(const std::vector<FileObject>& objects,
                                         const control_plane::Caller& caller) {
    SourceReader reader = read_sources_below(
        caller.working_dir, [&](const std::string& name) { return caller.variable(name); });
    reader.file = [read = std::move(reader.file)](const std::string& path) -> Result<std::string> {
        if (path == "-") return no_standard_input();
        return read(path);
    };
    GatheredObjects gathered = gather_file_objects(objects, reader);
    if (!gathered.problems.empty()) {
        const manifest::Problem& first = gathered.problems.front();
        return Error(Code::kInvalid, fmt::format("{}: {}", first.source, first.message));
    }
    runtime::StandIns found;
    for (const GatheredObject& object : gathered.objects) {
        auto& of_kind = object.first.kind == "Secret" ? found.secrets : found.config_maps;
        of_kind[object.first.name].insert(object.data.begin(), object.data.end());
    }
    return found;
}

}  // namespace

std::string names_of(const std::vector<FileObject>& objects) {
    std::set<std::string> names;
    for (const FileObject& object : objects)
        names.insert(fmt::format("{} {}", object.kind, object.name));
    return fmt::format("{}", fmt::join(names, ", "));
}

std::string place_of(const std::string& path, const control_plane::Caller& caller) {
    if (path.empty()) return caller.working_dir;
    std::string text =
        (std::filesystem::path(caller.working_dir) / path).lexically_normal().string();
    if (text.size() > 1 && text.ends_with('/')) text.pop_back();
    return text;
}

Result<FoundMappings> find_mappings(const NodeMappings& flags,
                                    const control_plane::Caller& caller) {
    namespace fs = std::filesystem;
    FoundMappings found;
    const auto here = [&](const std::string& path) { return place_of(path, caller); };
    std::error_code failed;
    for (const auto& [image, path] : flags.mounts) {
        if (!fs::exists(here(path), failed))
            return Error(Code::kInvalid,
                         fmt::format("--mount {}={}: {} does not exist", image, path, here(path)));
        found.pods.mounts[fs::path(image).lexically_normal()] = here(path);
    }
    for (const auto& [claim, path] : flags.volumes) {
        if (!fs::is_directory(here(path), failed))
            return Error(Code::kInvalid, fmt::format("--volume {}={}: there is no directory {}",
                                                     claim, path, here(path)));
        found.pods.claims[claim] = here(path);
    }
    if (!flags.workdir.empty()) {
        found.pods.working_dir = here(flags.workdir);
        if (!fs::is_directory(found.pods.working_dir, failed))
            return Error(Code::kInvalid, fmt::format("--workdir {}: there is no directory {}",
                                                     flags.workdir, here(flags.workdir)));
    }
    TRY(FoundEntrypoints entrypoints, find_entrypoints(flags.entrypoints_file, caller));
    found.entrypoints_file = entrypoints.file;
    found.pods.changes = {.entrypoints = flags.entrypoints,
                          .env = flags.env,
                          .working_dir = found.pods.working_dir.string(),
                          .ignored_resources = flags.ignored_resources,
                          .scales_requests = flags.scales_requests};
    found.pods.changes.entrypoints.add_missing(entrypoints.known);
    found.pods.files = flags.private_files ? runtime::FileMode::kPrivate
                       : flags.own_workdir ? runtime::FileMode::kWorkingDir
                                           : runtime::FileMode::kShared;
    found.pods.files_bytes = flags.files_bytes;
    TRY(found.pods.stand_ins, read_stand_ins(flags.file_objects, caller));
    return found;
}

}  // namespace muster::cli
