#include "cli/internal/completion/completion.h"

namespace muster::cli {

namespace {

// Each asks the program itself what may follow, and completes files if that has no answer.

constexpr std::string_view kBash =
    R"sh(# muster's completion for bash: source <(muster completion bash)
_muster() {
    local IFS=$'\n'
    COMPREPLY=($("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=/] ]] && compopt -o nospace
}
complete -o default -F _muster muster
)sh";

constexpr std::string_view kZsh = R"sh(#compdef muster
# muster's completion for zsh: source <(muster completion zsh)
_muster() {
    local -a answers
    answers=("${(@f)$("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -n "${answers[1]}" ]]; then
        compadd -- "${answers[@]}"
    else
        _files
    fi
}
compdef _muster muster
)sh";

constexpr std::string_view kFish =
    R"sh(# muster's completion for fish: muster completion fish | source
function __muster_answers
    set -l line (commandline -opc) (commandline -ct)
    $line[1] __complete $line[2..-1] 2>/dev/null
end
complete -c muster -f -a '(__muster_answers)'
complete -c muster -n 'test -z "$(__muster_answers)"' -F
)sh";

}  // namespace

std::string_view completion_script(std::string_view shell) {
    if (shell == "bash") return kBash;
    if (shell == "zsh") return kZsh;
    if (shell == "fish") return kFish;
    return {};
}

}  // namespace muster::cli
