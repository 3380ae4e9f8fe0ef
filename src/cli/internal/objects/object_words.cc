#include "cli/internal/objects/object_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/fields.h"

namespace muster::cli {

namespace {

constexpr std::string_view kForms = "name a kind, a kind and names, or KIND/NAME";

Error wrong(std::string why) { return Error(Code::kInvalid, fmt::format("{}; {}", why, kForms)); }

/// KIND/NAME; consecutive names of one kind are requested together.
Result<std::vector<Target>> parse_pairs(const std::vector<std::string>& words,
                                        const ResourceCatalog& catalog) {
    std::vector<Target> targets;
    for (const std::string& word : words) {
        std::string_view name = word;
        const std::string_view kind = take_field(name, '/');
        if (kind.empty() || name.empty() || name.find('/') != name.npos)
            return wrong(fmt::format("\"{}\" is not of the form KIND/NAME", word));
        TRY(const auto resources, catalog.find(kind));
        if (resources.size() != 1)
            return wrong(fmt::format("\"{}\" means several kinds, which can't have a name", kind));
        if (targets.empty() || targets.back().resource != resources.front())
            targets.push_back({resources.front(), {}});
        targets.back().names.emplace_back(name);
    }
    return targets;
}

}  // namespace

Result<std::vector<Target>> parse_object_words(const std::vector<std::string>& words,
                                               const ResourceCatalog& catalog) {
    if (words.empty()) return wrong("nothing is named");
    const auto has_slash = [](const std::string& word) { return word.find('/') != word.npos; };
    if (std::ranges::all_of(words, has_slash)) return parse_pairs(words, catalog);
    if (const auto odd = std::ranges::find_if(words, has_slash); odd != words.end())
        return wrong(fmt::format("\"{}\" can't stand beside words without a '/'", *odd));
    const std::vector<std::string> names(words.begin() + 1, words.end());
    std::vector<Target> targets;
    std::string_view kinds = words.front();
    while (!kinds.empty()) {
        const std::string_view kind = take_field(kinds, ',');
        TRY(const auto resources, catalog.find(kind));
        if (resources.size() != 1 && !names.empty())
            return wrong(fmt::format("\"{}\" means several kinds, which can't have a name", kind));
        for (const ApiResource* resource : resources) {
            const Target target{resource, names};
            // "all" with one of its kinds, or the same one twice.
            if (std::ranges::find(targets, target) == targets.end()) targets.push_back(target);
        }
    }
    return targets;
}

}  // namespace muster::cli
