#include "cli/internal/verbs/verbs.h"

#include <algorithm>

namespace muster::cli {

namespace {

struct Entry {
    std::string_view name;
    std::unique_ptr<Verb> (*make)();
};

#define ENTRY(name) Entry{#name, name##_verb},
constexpr Entry kVerbs[] = {MUSTER_VERBS(ENTRY)};
#undef ENTRY

/// The name of a function has '_' where that of its verb has '-'.
bool matches_verb(std::string_view function, std::string_view verb) {
    return std::ranges::equal(function, verb,
                              [](char a, char b) { return (a == '_' ? '-' : a) == b; });
}

}  // namespace

std::vector<std::unique_ptr<Verb>> make_verbs() {
    std::vector<std::unique_ptr<Verb>> verbs;
    for (const Entry& entry : kVerbs) verbs.push_back(entry.make());
    return verbs;
}

std::unique_ptr<Verb> make_verb(std::string_view name) {
    for (const Entry& entry : kVerbs)
        if (matches_verb(entry.name, name)) return entry.make();
    return name == kCompleteVerb ? complete_verb() : nullptr;
}

}  // namespace muster::cli
