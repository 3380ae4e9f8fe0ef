#include "cli/internal/command_line/near_verbs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace muster::cli {

namespace {

struct Advice {
    std::string_view word;
    std::string_view text;
};
/// Verbs of kubectl, docker, ray, sky, slurm, torchx, accelerate and of people in a hurry.
constexpr auto kAdvice = std::to_array<Advice>({
    {"new", "'muster init SCRIPT' writes the manifest of a script's job"},
    {"generate", "'muster init SCRIPT' writes the manifest of a script's job"},
    {"create",
     "'muster run FILE' runs a manifest; 'muster apply -f FILE' makes its objects on a server"},
    {"submit", "'muster run SCRIPT' runs a script; with --context it runs on a cluster"},
    {"start",
     "'muster run' runs a script or a manifest; 'muster up' starts the server of this machine"},
    {"train", "'muster run SCRIPT' trains with it"},
    {"torchrun",
     "'muster run -n N SCRIPT' starts a script with muster-run in the place of torchrun"},
    {"mpirun", "'muster run mpirun ...' runs it as an MPIJob"},
    {"accelerate",
     "'muster run SCRIPT' starts a script with muster-run in the place of its launcher"},
    {"deepspeed",
     "'muster run SCRIPT' starts a script with muster-run in the place of its launcher"},
    {"list", "'muster ps' lists runs and jobs, 'muster get KIND' objects of a server"},
    {"ls", "'muster ps' lists runs and jobs, 'muster get KIND' objects of a server"},
    {"jobs", "'muster ps' lists runs and jobs"},
    {"squeue", "'muster ps' lists runs and jobs"},
    {"sacct", "'muster ps -a' lists what has ended, too"},
    {"history", "'muster ps -a' lists what has ended, too"},
    {"log", "'muster logs JOB' shows the logs of all replicas"},
    {"tail", "'muster logs -f JOB' follows the logs of all replicas"},
    {"restart", "'muster rerun NAME' runs again what ran before"},
    {"retry", "'muster rerun NAME' runs again what ran before"},
    {"show", "'muster describe KIND NAME' says what an object is and what happened to it"},
    {"inspect", "'muster describe KIND NAME' says what an object is and what happened to it"},
    {"cancel", "'muster stop NAME' ends a run, and suspends a job of a server"},
    {"scancel", "'muster stop NAME' ends a run, and suspends a job of a server"},
    {"remove", "'muster rm NAME' removes a run, and deletes a job of a server"},
    {"serve", "'muster up' serves the Kubernetes API of this machine"},
    {"server", "'muster up' serves the Kubernetes API of this machine"},
    {"check", "'muster validate FILE' checks a manifest"},
    {"lint", "'muster validate FILE' checks a manifest"},
    {"install", "'muster manifests | kubectl apply -f -' installs the operator on a cluster"},
    {"deploy",
     "'muster manifests' prints what installs the operator; 'muster apply -f FILE' applies a "
     "manifest"},
    {"config", "'muster kubeconfig' prints what clients need"},
});

}  // namespace

std::optional<std::string> advice_for_line(const std::vector<std::string>& words) {
    if (words.empty()) return std::nullopt;
    const std::string& word = words.front();
    for (const std::string_view end : {".py", ".sh", ".yaml", ".yml", ".json"})
        if (word.ends_with(end))
            return fmt::format("{} is no verb; 'muster run {}' runs it", word,
                               fmt::join(words, " "));
    const auto* const known = std::ranges::find(kAdvice, word, &Advice::word);
    if (known == kAdvice.end()) return std::nullopt;
    return fmt::format("there is no verb \"{}\": {}", word, known->text);
}

}  // namespace muster::cli
