#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace muster::process {

struct Pipe {
    UniqueFd reader;
    UniqueFd writer;
};

/// Closed on exec. `doing` says in the error what was attempted. A plain system call.
inline Result<Pipe> make_pipe(std::string_view doing) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) < 0) return system_error(doing, errno);
    return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

}  // namespace muster::process
