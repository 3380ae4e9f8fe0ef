#include "cli/internal/script/start_command.h"

#include <fmt/format.h>

#include <string_view>

#include "base/parse_number.h"
#include "jobs/agent_command.h"

namespace muster::cli {

namespace {

using Words = std::vector<std::string>;

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

Words joined(Words first, const Words& rest, std::size_t from = 0) {
    first.insert(first.end(), rest.begin() + static_cast<std::ptrdiff_t>(from), rest.end());
    return first;
}

/// How many words name the interpreter in front of its script or module; 0: it is no such command.
std::size_t interpreter_words(const Words& command) {
    if (command.empty() || !is_python(command.front())) return 0;
    const std::size_t first = command.size() > 1 && command[1] == "-u" ? 2 : 1;
    if (command.size() <= first) return 0;
    const bool module = command[first] == "-m" && command.size() > first + 1;
    return module || is_python_script(command[first]) ? first : 0;
}

/// A script needs an interpreter; a program does not.
Words interpreted(const Words& command) {
    if (is_python_script(command.front()) || command.front() == "-m")
        return joined({"python3"}, command);
    // It may have been written without the right to execute it.
    return command.front().ends_with(".sh") ? joined({"bash"}, command) : command;
}

Words agent_command(const JobRequest& request) {
    Words agent{"muster-run"};
    if (request.max_restarts > 0 && !request.least)
        agent.push_back(fmt::format("--max-restarts={}", request.max_restarts));
    if (request.warm) agent.emplace_back("--warm");
    if (const std::size_t launcher = torchrun_words(request.command))
        return joined(agent, request.command, launcher);
    const Words& command = request.command;
    if (jobs::needs_literal_args(command)) agent.emplace_back(jobs::kLiteralArgs);
    if (is_python_script(command.front()) || command.front() == "-m") return joined(agent, command);
    if (const std::size_t interpreter = interpreter_words(command)) {
        Words made = joined(agent, command, interpreter);
        // The agent takes the first Python in PATH unless it is told another.
        const bool usual = command.front() == "python" || command.front() == "python3";
        return usual ? made : joined({"env", "PYTHON_EXEC=" + command.front()}, made);
    }
    agent.emplace_back("--no-python");
    return joined(agent, interpreted(command));
}

Words mpi_command(const JobRequest& request) {
    if (is_mpirun(request.command.front())) return request.command;
    return joined({"mpirun", "--allow-run-as-root", "--bind-to", "none", "-np",
                   std::to_string(request.workers * slots_of(request))},
                  interpreted(request.command));
}

Words paddle_command(const JobRequest& request) {
    Words launcher{"python3", "-m", "paddle.distributed.launch"};
    if (request.processes != "1") launcher.push_back("--nproc_per_node=" + request.processes);
    const std::size_t interpreter = interpreter_words(request.command);
    const std::string& program = request.command[interpreter];
    // Another program than a script starts its processes itself.
    if (!is_python_script(program)) return interpreted(request.command);
    return joined(launcher, request.command, interpreter);
}

}  // namespace

bool is_python_script(std::string_view word) { return word.ends_with(".py"); }

bool is_python(std::string_view word) {
    std::string_view name = file_name(word);
    if (!name.starts_with("python")) return false;
    name.remove_prefix(6);
    return name.find_first_not_of("0123456789.") == std::string_view::npos;
}

std::size_t torchrun_words(const Words& command) {
    const std::string_view name = file_name(command.front());
    if (name == "torchrun" || name == "muster-run") return 1;
    if (!is_python(name)) return 0;
    const std::size_t first = command.size() > 1 && command[1] == "-u" ? 2 : 1;
    if (command.size() < first + 2 || command[first] != "-m") return 0;
    const std::string& module = command[first + 1];
    return module == "torch.distributed.run" || module == "torch.distributed.launch" ? first + 2
                                                                                     : 0;
}

bool is_mpirun(std::string_view word) {
    const std::string_view name = file_name(word);
    return name == "mpirun" || name == "mpiexec" || name == "horovodrun" || name == "orterun";
}

std::string script_of_command(const Words& command) {
    std::size_t at = 0;
    if (const std::size_t launcher = torchrun_words(command)) {
        for (at = launcher; at < command.size(); ++at)
            if (is_python_script(command[at])) return command[at];
        return {};
    }
    if (is_mpirun(command.front())) {
        for (; at < command.size(); ++at)
            if (is_python_script(command[at])) return command[at];
        return {};
    }
    at = interpreter_words(command);
    if (command[at] == "-m" && command.size() > at + 1) return command[at + 1];
    return is_python_script(command[at]) ? command[at] : std::string();
}

int slots_of(const JobRequest& request) { return parse_number<int>(request.processes).value_or(1); }

Words start_command(const JobRequest& request) {
    switch (request.framework) {
        case Framework::kPyTorch:
        case Framework::kDeepSpeed:
            return agent_command(request);
        case Framework::kMpi:
        case Framework::kHorovod:
            return mpi_command(request);
        case Framework::kPaddle:
            return paddle_command(request);
        case Framework::kTensorFlow:
        case Framework::kJax:
        case Framework::kXgboost:
        case Framework::kMxnet:
            break;
    }
    return interpreted(request.command);
}

}  // namespace muster::cli
