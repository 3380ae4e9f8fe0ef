#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/internal/command_line/known_verbs.h"
#include "cli/internal/connect/server_options.h"

namespace muster::cli {

/// What the last word of an unfinished command line may become.
struct Completion {
    enum class Source {
        kWords,  ///< `words`; none: whatever the shell thinks of, such as files
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
    std::string typed{};     ///< what there is of it already
    ServerOptions server{};  ///< that the line so far names
};

/// `line`: the words behind "muster", the last one unfinished and perhaps empty. A "=" may stand as
/// a word of its own, as bash has it. Pure.
Completion complete_line(const std::vector<KnownVerb>& verbs, const std::vector<std::string>& line);

/// Those of `candidates` that go on where the completion is, whole words for the shell. Pure.
std::vector<std::string> fitting(const Completion& completion,
                                 const std::vector<std::string>& candidates);

/// What a shell reads at its start: bash, zsh or fish.
std::string_view completion_script(std::string_view shell);

}  // namespace muster::cli
