#pragma once

#include <poll.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace muster::pod_init {

/// The clients that get copies of a container's outputs while it runs. Plain system calls; SIGPIPE
/// is ignored.
class AttachStreams {
  public:
    /// The writing ends of pipes: for output, and for errors.
    Result<void> add(std::uint32_t id, UniqueFd output, UniqueFd error);
    /// False: there is no such one.
    bool remove(std::uint32_t id);

    /// A copy for each. What a pipe does not take now is kept, and that output is full.
    void write(std::size_t stream, std::string_view bytes);
    /// While it is, no more may be read of that output.
    bool is_full(std::size_t stream) const;
    /// Adds what to wait for until write_kept() can do something.
    void wait_for(std::vector<pollfd>& events) const;
    void write_kept();
    /// Makes the pipes so large that they hold what can still come, read or not.
    void make_last_room();

  private:
    struct Copy {
        UniqueFd pipe;
        std::string kept;

        void write_some();
    };

    std::map<std::uint32_t, std::array<Copy, 2>> attached_;
};

}  // namespace muster::pod_init
