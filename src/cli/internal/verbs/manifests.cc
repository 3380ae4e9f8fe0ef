#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "cli/internal/install/layouts.h"
#include "cli/internal/objects/object_print.h"
#include "cli/internal/verbs/verbs.h"

namespace muster::cli {

namespace {

namespace fs = std::filesystem;

std::string all_objects(const ManifestsOptions& options) {
    std::vector<json::value> objects;
    if (!options.crds_only) objects.push_back(namespace_object(options.installation));
    for (json::value& definition : job_definitions().objects)
        objects.push_back(std::move(definition));
    if (!options.crds_only)
        for (Part& part : parts_of(options.installation))
            std::ranges::move(part.objects, std::back_inserter(objects));
    return yaml_stream(objects);
}

/// What could not be written, or "".
std::string write(const Files& files, const fs::path& directory) {
    for (const auto& [name, text] : files) {
        const fs::path path = directory / name;
        std::error_code failed;
        fs::create_directories(path.parent_path(), failed);
        std::ofstream file(path, std::ios::binary | std::ios::trunc);
        file << text;
        file.close();
        if (failed || !file) return path;
    }
    return {};
}

}  // namespace

int manifests(const ManifestsOptions& options) {
    Installation installation = options.installation;
    if (installation.image.is_null()) installation.image = "muster/operator:" MUSTER_VERSION;
    if (options.layout == Layout::kStream) {
        ManifestsOptions filled = options;
        filled.installation = std::move(installation);
        print(all_objects(filled));
        return 0;
    }
    const Files files = options.layout == Layout::kHelm ? helm_chart(installation, MUSTER_VERSION)
                                                        : kustomization(installation);
    const std::string failed = write(files, options.output_dir);
    if (failed.empty()) return 0;
    fmt::print(stderr, "muster manifests: {} can't be written\n", failed);
    return 1;
}

}  // namespace muster::cli
