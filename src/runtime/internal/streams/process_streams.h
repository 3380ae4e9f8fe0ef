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

/// Our ends of a process's standard streams: pipes, or a terminal. Nothing is buffered beyond the
/// kernel's buffers, so a slow reader slows the process. Owns the descriptors. Thread: the loop.
class ProcessStreams {
  public:
    explicit ProcessStreams(const asio::any_io_executor& executor);

    /// Makes a pipe for each stream that `wanted` connects, and returns the process's ends: input,
    /// output, error. The others lead nowhere.
    Result<std::array<UniqueFd, 3>> open_pipes(const kube::CommandOptions& wanted);
    /// Used instead: the end of a terminal, which may arrive after the first write or resize.
    Result<void> use_terminal(UniqueFd terminal);
    /// For pipes: the descriptor for input arrives later, or none does because input goes nowhere.
    void await_input();
    Result<void> use_input(UniqueFd input);
    /// The process has ended: its output can still be read, and then comes the end, even if
    /// processes that it left hold the streams open.
    void finish();

    /// See kube::CommandSession.
    Task<Result<std::optional<kube::OutputPiece>>> read();
    Task<void> write(std::string bytes);
    Task<void> close_input();
    void resize(kube::TerminalSize size);

  private:
    using Descriptor = asio::posix::stream_descriptor;

    std::optional<kube::OutputPiece> take(std::size_t stream);
    Task<void> readable();
    /// Waits until the descriptor is ready, or something else has changed since `seen`.
    Task<void> wait(Descriptor& descriptor, Descriptor::wait_type what, std::uint64_t seen);
    Task<void> changed_since(std::uint64_t seen);
    void note_change();
    Result<void> assign(Descriptor& descriptor, UniqueFd fd);
    /// The descriptor for input once it has arrived; null if there is none any more.
    Task<Descriptor*> input();

    Descriptor input_;
    std::array<Descriptor, 2> outputs_;
    bool awaits_input_ = true;  ///< the descriptor for input has not arrived yet
    bool terminal_ = false;
    bool types_end_ = false;  ///< no one else has the terminal, so closing it would hang it up
    bool input_closed_ = false;
    std::optional<kube::TerminalSize> size_;
    /// After finish(): how much of each stream may still be read.
    std::optional<std::array<std::size_t, 2>> left_;
    std::size_t turn_ = 0;
    std::uint64_t changes_ = 0;
    Signal changed_;
};

}  // namespace muster::runtime
