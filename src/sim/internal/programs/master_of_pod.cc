#include "sim/internal/programs/master_of_pod.h"

#include <string>
#include <utility>
#include <vector>

#include "sim/internal/programs/command_of_container.h"

namespace muster::sim {

Result<std::optional<master_process::Arguments>> master_of_pod(const json::value& pod) {
    for (const json::value* const container : containers_of(pod)) {
        std::vector<std::string> words = command_of(*container);
        if (words.size() < 2 || words[0] != "muster" || words[1] != "master") continue;
        words.erase(words.begin(), words.begin() + 2);
        master_process::Arguments arguments;
        if (const auto wrong = master_process::parse_arguments(words, arguments))
            return Error(Code::kInvalid, "muster master: " + *wrong);
        return std::optional(std::move(arguments));
    }
    return std::optional<master_process::Arguments>();
}

}  // namespace muster::sim
