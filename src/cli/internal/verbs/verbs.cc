#include "cli/internal/verbs/verbs.h"

#include <algorithm>

namespace muster::cli {

namespace {

struct NamedVerb {
    std::string_view name;
    std::unique_ptr<Verb> (*make)();
};

#define ENTRY(name) NamedVerb{#name, name##_verb},
constexpr NamedVerb kVerbs[] = {MUSTER_VERBS(ENTRY)};
#undef ENTRY

/// The name of a function has '_' where that of its verb has '-'.
bool matches_verb(std::string_view function, std::string_view verb) {
    return std::ranges::equal(function, verb,
                              [](char a, char b) { return (a == '_' ? '-' : a) == b; });
}

}  // namespace

std::vector<std::unique_ptr<Verb>> make_verbs() {
    std::vector<std::unique_ptr<Verb>> verbs;
    for (const NamedVerb& entry : kVerbs) verbs.push_back(entry.make());
    return verbs;
}

std::unique_ptr<Verb> make_verb(std::string_view name) {
    for (const NamedVerb& entry : kVerbs)
        if (matches_verb(entry.name, name)) return entry.make();
    return name == kCompleteVerb ? complete_verb() : nullptr;
}

}  // namespace muster::cli
