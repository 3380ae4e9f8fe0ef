#include <fmt/format.h>

#include <cstdio>

#include "cli/internal/objects/object_print.h"
#include "cli/internal/verbs/verbs.h"
#include "manifest/old_versions.h"
#include "manifest/read_files.h"
#include "manifest/yaml/yaml_writer.h"

namespace muster::cli {

namespace {

std::string text_of(const std::vector<manifest::Document>& documents, OutputFormat format) {
    if (documents.size() == 1 && format == OutputFormat::kJson)
        return manifest::to_pretty_json(documents.front().object);
    std::vector<json::value> objects;
    objects.reserve(documents.size());
    for (const manifest::Document& document : documents) objects.push_back(document.object);
    return print_objects(objects, format);
}

}  // namespace

int convert(const ConvertOptions& options) {
    manifest::Manifest manifest = manifest::read_files_as_written(options.files);
    bool found = false;
    for (manifest::Document& document : manifest.documents)
        found |= manifest::convert_document(document, options.to_kind, options.to_version,
                                            manifest.problems);
    manifest::sort_problems(manifest.problems);
    for (const manifest::Problem& problem : manifest.problems)
        fmt::print(stderr, "{}\n", format(problem));
    if (manifest::has_errors(manifest.problems)) {
        fmt::print(stderr, "muster convert: {}; nothing was printed\n",
                   manifest::count_problems(manifest.problems));
        return 2;
    }
    if (!found) {
        fmt::print(stderr, "muster convert: the files hold no {}\n", options.to_kind);
        return 2;
    }
    print(text_of(manifest.documents, options.output));
    return 0;
}

}  // namespace muster::cli
