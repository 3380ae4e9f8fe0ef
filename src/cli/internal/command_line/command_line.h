#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cli/internal/flags/known_verbs.h"
#include "cli/internal/flags/verb.h"

namespace muster::cli {

/// No verb to run: print and exit.
struct Print {
    int exit_code = 0;
    std::string out;
    std::string err;
};

using Command = std::variant<std::unique_ptr<Verb>, Print>;

/// The arguments after the program's name. Pure; never exits.
Command parse_command_line(const std::vector<std::string>& arguments);

/// The options of the verb of a command; null if it has no verb, or one with other options.
template <class Options>
const Options* options_of(const Command& command) {
    const auto* verb = std::get_if<std::unique_ptr<Verb>>(&command);
    if (verb == nullptr) return nullptr;
    const auto* one = dynamic_cast<const VerbOf<Options>*>(verb->get());
    return one == nullptr ? nullptr : &one->options();
}

/// The verbs and flags that parse_command_line() accepts, from its own table.
std::vector<KnownVerb> known_verbs();

/// The text of `muster --help` (verb empty) or `muster VERB --help`.
std::string_view help_text(std::string_view verb);

}  // namespace muster::cli
