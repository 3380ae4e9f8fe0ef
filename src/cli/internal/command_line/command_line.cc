#include "cli/internal/command_line/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "cli/internal/command_line/near_verbs.h"
#include "cli/internal/flags/flags.h"
#include "cli/internal/flags/known_verbs.h"
#include "cli/internal/verbs/verbs.h"

namespace muster::cli {

namespace {

constexpr std::string_view kHelpVerb = "help";
constexpr std::string_view kVersionVerb = "version";

using Words = std::vector<std::string>;

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

bool asks_for_help(const Words& words) { return words == Words{"--help"} || words == Words{"-h"}; }

Command read_words(std::unique_ptr<Verb> verb, Words words) {
    if (!verb->help().empty() && asks_for_help(words)) return help_of(verb->name());
    if (const auto wrong = verb->take_words(std::move(words)))
        return usage_error(verb->name(), *wrong);
    return verb;
}

/// `verbs`: those that the line may name.
Command read_flags(std::vector<std::unique_ptr<Verb>> verbs, Words words) {
    FlagParser parser;
    std::vector<Flags> flags;
    for (const std::unique_ptr<Verb>& verb : verbs) {
        flags.push_back(parser.add_verb(verb->name()));
        verb->declare(flags.back());
    }
    const FlagParser::Outcome outcome = parser.parse(std::move(words));
    if (outcome.help) return help_of(outcome.verb);
    if (outcome.wrong) return usage_error(outcome.verb, *outcome.wrong);
    if (outcome.version) return make_verb(kVersionVerb);
    if (outcome.verb.empty())
        return Print{.exit_code = 2, .out = {}, .err = std::string(help_text(""))};
    const auto named =
        std::ranges::find(verbs, outcome.verb, [](const auto& verb) { return verb->name(); });
    const auto place = static_cast<std::size_t>(named - verbs.begin());
    if (const auto wrong = (*named)->finish(flags[place])) return usage_error(outcome.verb, *wrong);
    return std::move(*named);
}

}  // namespace

Command parse_command_line(const std::vector<std::string>& arguments) {
    std::unique_ptr<Verb> first = arguments.empty() ? nullptr : make_verb(arguments.front());
    if (!first)
        if (const auto advice = advice_for_line(arguments)) return usage_error("", *advice);
    // For the nearest name of an unknown verb, and for flags before the verb.
    if (!first) return read_flags(make_verbs(), arguments);
    Words words(arguments.begin() + 1, arguments.end());
    if (first->wants_words()) return read_words(std::move(first), std::move(words));
    words = first->to_flags(std::move(words));
    words.insert(words.begin(), arguments.front());
    // The others are not declared: their names may be names of objects, as in "logs run".
    std::vector<std::unique_ptr<Verb>> verbs;
    verbs.push_back(std::move(first));
    return read_flags(std::move(verbs), std::move(words));
}

std::vector<KnownVerb> known_verbs() {
    const auto verbs = make_verbs();
    FlagParser parser;
    for (const std::unique_ptr<Verb>& verb : verbs) {
        Flags flags = parser.add_verb(verb->name());
        verb->declare(flags);
    }
    return parser.known_verbs();
}

std::string_view help_text(std::string_view name) {
    const std::unique_ptr<Verb> verb = make_verb(name);
    const bool has_help = verb && !verb->help().empty();
    return has_help ? verb->help() : make_verb(kHelpVerb)->help();
}

}  // namespace muster::cli
