#include "cli/internal/script/script_words.h"

#include <set>
#include <string_view>

#include "base/fields.h"
#include "cli/internal/flags/flags.h"
#include "control_plane/daemon/caller.h"
#include "control_plane/machine.h"

namespace muster::cli {

namespace {

std::set<std::string> flags_with_values(Verb& verb) {
    FlagParser parser;
    Flags flags = parser.add_verb(verb.name());
    verb.declare(flags);
    std::set<std::string> names;
    const std::vector<KnownVerb> known = parser.known_verbs();
    for (const KnownFlag& flag : known.front().flags)
        if (flag.takes_value) names.insert(flag.names.begin(), flag.names.end());
    return names;
}

/// A file by its path; a plain name also in PATH, unless a file here has it, which is meant then.
bool is_program(const std::string& word, const control_plane::Machine& machine,
                const std::string& search) {
    using enum control_plane::Machine::FileKind;
    if (word.empty()) return false;
    if (word.find('/') != std::string::npos) return machine.kind_of(word) == kProgram;
    if (machine.kind_of(word) != kMissing) return false;
    for (std::string_view path = search; !path.empty();)
        if (machine.kind_of(std::string(take_field(path, ':')) + "/" + word) == kProgram)
            return true;
    return false;
}

}  // namespace

ScriptLine take_script_line(const std::vector<std::string>& words, Verb& same) {
    const control_plane::Caller caller = control_plane::current_caller();
    const auto machine = control_plane::make_real_machine(caller.environment);
    const std::set<std::string> with_values = flags_with_values(same);
    return read_script_line(
        words, {.takes_value = [&](const std::string& flag) { return with_values.contains(flag); },
                .is_program =
                    [&](const std::string& word) {
                        return is_program(word, *machine, caller.variable("PATH"));
                    }});
}

}  // namespace muster::cli
