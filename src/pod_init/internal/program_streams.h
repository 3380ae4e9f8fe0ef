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

/// With TERM, which says what kind of terminal it is.
std::vector<std::string> with_terminal(std::vector<std::string> environment);

/// Our ends of the standard streams of a container's own program: pipes or a terminal, and those
/// that are attached to them. Output 0 is that of a terminal; else they count as LogStream does.
/// Plain system calls; SIGPIPE is ignored.
class ProgramStreams {
  public:
    /// The program's ends, to be closed once it has started.
    struct Ends {
        UniqueFd input;  ///< none: it has no input
        UniqueFd output;
        UniqueFd error;  ///< none: a terminal, which is all three
        /// `null`: what a program without input reads.
        StandardStreams streams(int null) const;
    };

    static constexpr std::size_t kOutputs = 2;

    Result<Ends> open(const ContainerStart& start);

    /// Adds what to wait for: first the outputs, in order, then those that are attached.
    void wait_for(std::vector<pollfd>& events) const;
    /// What was kept for those that are attached, as far as they take it now.
    void write_kept() { attachments_.write_kept(); }
    /// One piece of an output, in `buffer`; empty: nothing can be read now, or no more comes.
    std::string_view take(std::size_t output, std::span<char> buffer);
    /// For those that are attached.
    void copy(std::size_t output, std::string_view piece) { attachments_.write(output, piece); }
    /// The program has ended: room for what can still be taken, as nothing waits for the attached.
    void make_last_room() { attachments_.make_last_room(); }

    /// As Request::Kind::kAttach. Where input goes; none when it is not wanted or goes nowhere.
    Result<UniqueFd> attach(Request& request);
    /// False: there is no such one.
    bool release(std::uint32_t id);
    /// The attached client writes no more.
    void end_input(std::uint32_t id);

  private:
    bool terminal_ = false;
    bool input_once_ = false;
    UniqueFd input_;  ///< none: it has none, or it is at its end
    std::array<UniqueFd, kOutputs> outputs_;
    AttachStreams attachments_;
    std::set<std::uint32_t> with_input_;  ///< of those that are attached
};

}  // namespace muster::pod_init
