#pragma once

#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/async/signal.h"
#include "base/unique_fd.h"
#include "kube/objects/command_session.h"

namespace muster::runtime {

/// Our ends of a process's standard streams: pipes, or a terminal. Nothing is buffered beyond what
/// the kernel does, so a slow reader slows the process. Owns the descriptors. Thread: the loop.
class ProcessStreams {
  public:
    explicit ProcessStreams(const asio::any_io_executor& executor);

    /// Makes a pipe for each stream that `wanted` connects, and returns the process's ends: input,
    /// output, error. The others lead nowhere.
    Result<std::array<UniqueFd, 3>> open_pipes(const kube::CommandOptions& wanted);
    /// Instead: the end of a terminal, which may come later than the first write or resize.
    Result<void> use_terminal(UniqueFd terminal);
    /// Besides pipes: where input goes comes later, or that it goes nowhere (no descriptor).
    void await_input();
    Result<void> use_input(UniqueFd input);
    /// The process has ended: what it wrote can be read, and then comes the end, although what it
    /// left running may hold the streams open.
    void finish();

    /// As those of kube::CommandSession.
    Task<Result<std::optional<kube::OutputPiece>>> read();
    Task<void> write(std::string bytes);
    Task<void> close_input();
    void resize(kube::TerminalSize size);

  private:
    using Descriptor = asio::posix::stream_descriptor;

    std::optional<kube::OutputPiece> take(std::size_t stream);
    Task<void> readable();
    /// Until the descriptor is ready, or something else has changed since `seen`.
    Task<void> wait(Descriptor& descriptor, Descriptor::wait_type what, std::uint64_t seen);
    Task<void> changed_since(std::uint64_t seen);
    void note_change();
    Result<void> assign(Descriptor& descriptor, UniqueFd fd);
    /// Where input goes, once it is there; null when there is none any more.
    Task<Descriptor*> input();

    Descriptor input_;
    std::array<Descriptor, 2> outputs_;
    bool awaits_input_ = true;  ///< where input goes is not known yet
    bool terminal_ = false;
    bool types_end_ = false;  ///< the terminal is ours alone: to close it would hang it up
    bool input_closed_ = false;
    std::optional<kube::TerminalSize> size_;
    /// After finish(): what may still be read of each stream.
    std::optional<std::array<std::size_t, 2>> left_;
    std::size_t turn_ = 0;
    std::uint64_t changes_ = 0;
    Signal changed_;
};

}  // namespace muster::runtime
