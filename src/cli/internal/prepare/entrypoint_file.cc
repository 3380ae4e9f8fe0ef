#include "cli/internal/prepare/entrypoint_file.h"

#include <fmt/format.h>

#include <filesystem>

#include "manifest/manifest.h"
#include "manifest/read_files.h"

namespace muster::cli {

namespace {

Result<std::vector<std::string>> words_of(const json::value& command) {
    if (const json::string* text = command.if_string()) return kube::command_words(*text);
    std::vector<std::string> words;
    const json::array* list = command.if_array();
    if (list == nullptr || list->empty())
        return Error(Code::kInvalid, "the command is neither a text nor a list of words");
    for (const json::value& word : *list) {
        if (!word.is_string())
            return Error(Code::kInvalid, "a word of the command is not a text: put it in quotes");
        words.emplace_back(word.get_string());
    }
    return words;
}

}  // namespace

Result<kube::Entrypoints> read_entrypoints(std::string_view text, const std::string& source) {
    const manifest::Manifest read = manifest::read_manifest(text, source);
    if (!read.problems.empty())
        return Error(Code::kInvalid, manifest::format(read.problems.front()));
    kube::Entrypoints known;
    for (const manifest::Document& document : read.documents) {
        const json::object* images = document.object.if_object();
        if (images == nullptr)
            return Error(Code::kInvalid,
                         fmt::format("{}: this is not a map of images to commands, as in "
                                     "\"pytorch/pytorch: python /opt/train.py\"",
                                     source));
        for (const auto& [image, command] : *images) {
            auto words = words_of(command);
            if (!words) {
                const manifest::Place place = manifest::place_of(document.places, image);
                return Error(Code::kInvalid,
                             fmt::format("{}:{}:{}: {}: {}", source, place.line, place.column,
                                         std::string_view(image), words.error().message()));
            }
            known.add(image, *std::move(words));
        }
    }
    return known;
}

Result<FoundEntrypoints> find_entrypoints(const std::string& file,
                                          const control_plane::Caller& caller) {
    const std::filesystem::path path =
        std::filesystem::path(caller.working_dir) / (file.empty() ? kEntrypointFile : file);
    std::error_code failed;
    if (file.empty() && !std::filesystem::exists(path, failed)) return FoundEntrypoints{};
    const std::string shown = file.empty() ? std::string(kEntrypointFile) : file;
    Result<std::string> text = manifest::read_file(path.string());
    if (!text) return Error(text.error()).prefix(shown);
    TRY(kube::Entrypoints known, read_entrypoints(*text, shown));
    return FoundEntrypoints{.known = std::move(known), .file = shown};
}

}  // namespace muster::cli
