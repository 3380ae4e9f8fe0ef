#include "control_plane/yaml_bodies.h"

#include <fmt/format.h>

#include "manifest/manifest.h"
#include "manifest/yaml/yaml_document.h"
#include "manifest/yaml/yaml_writer.h"

namespace muster::cli {

namespace {

Error refusal(Place place, std::string_view why) {
    return Error(Code::kBadRequest,
                 fmt::format("line {}, column {}: {}", place.line, place.column, why));
}

Result<json::value> read(std::string_view text) {
    if (text.size() > kMaxManifestBytes)
        return Error(Code::kBadRequest,
                     fmt::format("it is longer than {} bytes; send it as JSON", kMaxManifestBytes));
    const LineIndex lines(text);
    if (const auto bad = find_bad_byte(text)) return refusal(lines.at(bad->offset), bad->what);
    YamlDocument document = parse_yaml_document(text, 0, lines);
    if (!document.problems.empty()) {
        const YamlProblem& first = document.problems.front();
        return refusal(first.place, first.message);
    }
    return std::move(document.value);
}

}  // namespace

apiserver_http::YamlText yaml_bodies() { return {.read = read, .write = to_yaml}; }

}  // namespace muster::cli
