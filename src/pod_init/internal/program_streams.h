#pragma once

#include <poll.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "pod_init/init_protocol.h"
#include "pod_init/internal/attach_streams.h"
#include "pod_init/internal/program_start.h"

namespace muster::pod_init {

/// Adds TERM, which names the type of terminal.
std::vector<std::string> with_terminal(std::vector<std::string> environment);

/// Our ends of the standard streams of a container's own program: pipes or a terminal, and the
/// clients attached to them. Output 0 is that of a terminal; otherwise they are numbered as in
/// LogStream. Plain system calls; SIGPIPE is ignored.
class ProgramStreams {
  public:
    /// The program's ends, to be closed once it has started.
    struct Ends {
        UniqueFd input;  ///< none: it has no input
        UniqueFd output;
        UniqueFd error;  ///< none: a terminal, which is all three
        /// `null`: the input of a program without one.
        StandardStreams streams(int null) const;
    };

    static constexpr std::size_t kOutputs = 2;

    Result<Ends> open(const ContainerStart& start);

    /// Adds the events to wait for: first the outputs, in order, then the attached clients.
    void wait_for(std::vector<pollfd>& events) const;
    /// Writes what was kept for attached clients, as far as they take it now.
    void write_kept() { attachments_.write_kept(); }
    /// One piece of an output, in `buffer`; empty if nothing can be read now or ever.
    std::string_view take(std::size_t output, std::span<char> buffer);
    /// Copies a piece to the attached clients.
    void copy(std::size_t output, std::string_view piece) { attachments_.write(output, piece); }
    /// The program has ended: makes room for the rest of its output, as nothing waits for clients
    /// any more.
    void make_last_room() { attachments_.make_last_room(); }

    /// See Request::Kind::kAttach. Returns where input goes; unset if it is not wanted or goes
    /// nowhere.
    Result<UniqueFd> attach(Request& request);
    /// False if there is no such client.
    bool release(std::uint32_t id);
    /// The attached client will not write any more.
    void end_input(std::uint32_t id);

  private:
    bool terminal_ = false;
    bool input_once_ = false;
    UniqueFd input_;  ///< unset if it has none or is at its end
    std::array<UniqueFd, kOutputs> outputs_;
    AttachStreams attachments_;
    std::set<std::uint32_t> with_input_;  ///< of the attached clients
};

}  // namespace muster::pod_init
