#pragma once

#include <boost/json/array.hpp>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/values/json.h"

namespace muster::jobs {

namespace annotations {
/// On a PyTorchJob: "true" puts our agent before the commands of its replicas, where the platform has
/// the program on its nodes. An addition of ours.
inline constexpr std::string_view kElastic = "muster.dev/elastic";
}  // namespace annotations

/// Whether a command is a Python with a script or a module to run.
bool starts_python(const std::vector<std::string>& words);

/// How agents are started.
struct AgentWords {
    std::vector<std::string> words = {};  ///< as "muster muster-run"; none: there are no agents
    bool warm = false;                    ///< its Python workers leave warm spares behind
    /// The words before a launcher whose place an agent takes, as "muster muster-run-for": its
    /// workers get the launcher's interpreter.
    std::vector<std::string> in_place_of = {};
    /// The text of a script as containers see it, by its path; a relative one starts where containers
    /// do that have no workingDir. Empty: unknown. Null: no script is looked at.
    std::function<std::string(const std::string& path)> text_of = nullptr;
};

/// How an agent is told to leave `$$` and `$local_rank` as they are, which it replaces in the words
/// of its workers as torchrun does.
inline constexpr std::string_view kLiteralArgs = "--literal-args";
/// Whether a command that was not written for torchrun needs it: some word has a `$`.
bool needs_literal_args(const std::vector<std::string>& words);

/// The command of a container with an agent before it. The agent takes the place of torchrun
/// (`torchrun`, `python -m torch.distributed.run`), whose flags it knows, also where a shell or a
/// program such as `env` calls it; it starts any other program as it is, once. With spares it
/// starts a Python script itself with the same interpreter, as only that can run in a spare.
/// Nothing if the container has no command or a malformed one, which the check reports. kInvalid:
/// torchrun is called where no agent can take its place. Pure, but for agent.text_of.
Result<std::optional<json::array>> agent_command(const json::object& container,
                                                 const AgentWords& agent);

/// The same, but a program that is no launcher, and calls none, is left as it is: nothing. Pure, but
/// for agent.text_of.
Result<std::optional<json::array>> agent_in_place(const json::object& container,
                                                  const AgentWords& agent);

}  // namespace muster::jobs
