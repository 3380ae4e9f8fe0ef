#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/internal/connect/server_options.h"
#include "cli/internal/flags/known_verbs.h"

namespace muster::cli {

/// The possible completions of the last word of an unfinished command line.
struct Completion {
    enum class Source {
        kWords,  ///< `words`; if empty, the shell's own choice, such as files
        kContexts,
        kNamespaces,
        kKinds,
        kNames,  ///< of the objects of `kind`
        kJobs,   ///< the names of jobs of all kinds
    };
    Source source = Source::kWords;
    std::vector<std::string> words{};
    std::string kind{};
    std::string before{};    ///< what stands before it in the same word: "--output=", "pod/"
    std::string typed{};     ///< the part that is typed already
    ServerOptions server{};  ///< from the line so far
};

/// `line`: the words after "muster"; the last one is unfinished and may be empty. A "=" may be a
/// separate word, as in bash. Pure.
Completion complete_line(const std::vector<KnownVerb>& verbs, const std::vector<std::string>& line);

/// Those of `candidates` that match what is typed, as whole words for the shell. Pure.
std::vector<std::string> fitting(const Completion& completion,
                                 const std::vector<std::string>& candidates);

/// The script for a shell to source: bash, zsh or fish.
std::string_view completion_script(std::string_view shell);

}  // namespace muster::cli
