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

/// The clients that get copies of a container's output while it runs. Plain system calls; SIGPIPE
/// is ignored.
class AttachStreams {
  public:
    /// The writing ends of pipes for standard output and standard error.
    Result<void> add(std::uint32_t id, UniqueFd output, UniqueFd error);
    /// False if there is no such client.
    bool remove(std::uint32_t id);

    /// Writes a copy for each. Bytes that a pipe does not take now are kept, and that output is
    /// full.
    void write(std::size_t stream, std::string_view bytes);
    /// While it is full, no more of that output may be read.
    bool is_full(std::size_t stream) const;
    /// Adds the events to wait for before write_kept() can make progress.
    void wait_for(std::vector<pollfd>& events) const;
    void write_kept();
    /// Enlarges the pipes so that they hold everything that can still come, read or not.
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
