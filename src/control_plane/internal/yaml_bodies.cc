#include "control_plane/internal/yaml_bodies.h"

#include <fmt/format.h>

#include "manifest/manifest.h"
#include "manifest/yaml/yaml_document.h"
#include "manifest/yaml/yaml_writer.h"

namespace muster::control_plane {

namespace {

Error refusal(manifest::Place place, std::string_view why) {
    return Error(Code::kBadRequest,
                 fmt::format("line {}, column {}: {}", place.line, place.column, why));
}

Result<json::value> read(std::string_view text) {
    if (text.size() > manifest::kMaxManifestBytes)
        return Error(Code::kBadRequest, fmt::format("it is longer than {} bytes; send it as JSON",
                                                    manifest::kMaxManifestBytes));
    const manifest::LineIndex lines(text);
    if (const auto bad = manifest::find_bad_byte(text))
        return refusal(lines.at(bad->offset), bad->what);
    manifest::YamlDocument document = manifest::parse_yaml_document(text, 0, lines);
    if (!document.problems.empty()) {
        const manifest::YamlProblem& first = document.problems.front();
        return refusal(first.place, first.message);
    }
    return std::move(document.value);
}

}  // namespace

apiserver_http::YamlText yaml_bodies() { return {.read = read, .write = manifest::to_yaml}; }

}  // namespace muster::control_plane
