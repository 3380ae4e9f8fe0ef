#include <cstdlib>
#include <string_view>

#include "manifest/manifest.h"

using namespace muster;

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

/// Every value of the JSON has its place, inside the text and no deeper than allowed.
void check_places(const json::value& value, const manifest::SourcePtr& places, int lines,
                  int depth) {
    require(places != nullptr && depth <= manifest::kMaxManifestDepth);
    require(places->value.line >= 1 && places->value.line <= lines && places->value.column >= 1);
    if (const json::array* list = value.if_array()) {
        require(places->list && places->children.size() == list->size());
        for (std::size_t i = 0; i < list->size(); ++i)
            check_places((*list)[i], places->children[i].node, lines, depth + 1);
    } else if (const json::object* object = value.if_object()) {
        require(places->children.size() == object->size());
        for (const auto& child : places->children) {
            const json::value* field = object->if_contains(child.name);
            require(field != nullptr);
            check_places(*field, child.node, lines, depth + 1);
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    std::string_view text(reinterpret_cast<const char*>(data), size);
    manifest::Manifest manifest = manifest::read_manifest(text, "f");
    int lines = 1;
    for (char c : text) lines += c == '\n';
    require(!manifest.documents.empty() || !manifest.problems.empty());
    for (const manifest::Problem& problem : manifest.problems)
        require(!problem.message.empty() && problem.place.line >= 1 && problem.place.line <= lines);
    for (const manifest::Document& document : manifest.documents)
        check_places(document.object, document.places, lines, 0);
    return 0;
}
