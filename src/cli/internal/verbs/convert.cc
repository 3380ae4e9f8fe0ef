#include <fmt/format.h>

#include <cstdio>

#include "cli/internal/objects/object_print.h"
#include "cli/internal/verbs/verbs.h"
#include "manifest/old_versions.h"
#include "manifest/read_files.h"
#include "manifest/yaml/yaml_writer.h"

namespace muster::cli {

namespace {

std::string text_of(const std::vector<Document>& documents, OutputFormat format) {
    if (documents.size() == 1 && format == OutputFormat::kJson)
        return to_pretty_json(documents.front().object);
    std::vector<json::value> objects;
    objects.reserve(documents.size());
    for (const Document& document : documents) objects.push_back(document.object);
    return print_objects(objects, format);
}

}  // namespace

int convert(const ConvertOptions& options) {
    Manifest manifest = read_files_as_written(options.files);
    bool found = false;
    for (Document& document : manifest.documents)
        found |= convert_document(document, options.to_kind, options.to_version, manifest.problems);
    sort_problems(manifest.problems);
    for (const Problem& problem : manifest.problems) fmt::print(stderr, "{}\n", format(problem));
    if (has_errors(manifest.problems)) {
        fmt::print(stderr, "muster convert: {}; nothing was printed\n",
                   count_problems(manifest.problems));
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
