#include "cli/internal/command_line/command_line.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/internal/command_line/flags.h"
#include "cli/internal/command_line/known_verbs.h"
#include "cli/internal/verbs/verbs.h"

namespace muster::cli {

namespace {

constexpr std::string_view kHelpVerb = "help";
constexpr std::string_view kVersionVerb = "version";

using Verbs = std::vector<std::unique_ptr<Verb>>;
using Words = std::vector<std::string>;

/// Null: there is none of that name.
std::unique_ptr<Verb> take_verb(Verbs& verbs, std::string_view name) {
    const auto found =
        std::ranges::find(verbs, name, [](const auto& verb) { return verb->name(); });
    return found == verbs.end() ? nullptr : std::move(*found);
}

Print usage_error(std::string_view verb, const std::string& message) {
    return {.exit_code = 2,
            .out = {},
            .err = fmt::format(
                "muster: {}\n{}", message,
                verb.empty() ? "'muster --help' lists the verbs.\n"
                             : fmt::format("'muster {} --help' explains its flags.\n", verb))};
}

Print help_of(std::string_view verb) {
    return {.exit_code = 0, .out = std::string(help_text(verb)), .err = {}};
}

Command read_words(std::unique_ptr<Verb> verb, Words words) {
    if (!verb->is_hidden() && (words == Words{"--help"} || words == Words{"-h"}))
        return help_of(verb->name());
    if (const auto wrong = verb->take_words(std::move(words)))
        return usage_error(verb->name(), *wrong);
    return verb;
}

/// What stands first, if it is a verb's name; null otherwise.
Verb* first_verb(const Verbs& verbs, const Words& arguments) {
    if (arguments.empty()) return nullptr;
    const auto found =
        std::ranges::find(verbs, arguments.front(), [](const auto& verb) { return verb->name(); });
    return found == verbs.end() ? nullptr : found->get();
}

}  // namespace

Command parse_command_line(const std::vector<std::string>& arguments) {
    Verbs verbs = make_verbs();
    Words words = arguments;
    if (Verb* const first = first_verb(verbs, arguments)) {
        Words rest(arguments.begin() + 1, arguments.end());
        if (first->wants_words())
            return read_words(take_verb(verbs, arguments.front()), std::move(rest));
        rest = first->to_flags(std::move(rest));
        words.resize(1);
        std::ranges::move(rest, std::back_inserter(words));
    }

    FlagParser parser;
    std::vector<std::pair<std::string_view, Flags>> flags;
    for (const std::unique_ptr<Verb>& verb : verbs) {
        if (verb->is_hidden()) continue;
        flags.emplace_back(verb->name(), parser.add_verb(verb->name()));
        verb->declare(flags.back().second);
    }
    const FlagParser::Outcome outcome = parser.parse(std::move(words));
    if (outcome.help) return help_of(outcome.verb);
    if (outcome.wrong) return usage_error(outcome.verb, *outcome.wrong);
    if (outcome.version) return take_verb(verbs, kVersionVerb);
    if (outcome.verb.empty())
        return Print{.exit_code = 2, .out = {}, .err = std::string(help_text(""))};
    std::unique_ptr<Verb> verb = take_verb(verbs, outcome.verb);
    const auto given =
        std::ranges::find(flags, outcome.verb, &std::pair<std::string_view, Flags>::first);
    if (const auto wrong = verb->finish(given->second)) return usage_error(outcome.verb, *wrong);
    return verb;
}

std::vector<KnownVerb> known_verbs() {
    const Verbs verbs = make_verbs();
    FlagParser parser;
    for (const std::unique_ptr<Verb>& verb : verbs) {
        if (verb->is_hidden()) continue;
        Flags flags = parser.add_verb(verb->name());
        verb->declare(flags);
    }
    return parser.known_verbs();
}

std::string_view help_text(std::string_view name) {
    std::string_view general;
    for (const std::unique_ptr<Verb>& verb : make_verbs()) {
        if (verb->name() == name && !verb->is_hidden()) return verb->help();
        if (verb->name() == kHelpVerb) general = verb->help();
    }
    return general;
}

}  // namespace muster::cli
