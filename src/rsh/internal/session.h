#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "base/async/task_group.h"
#include "base/time/clock.h"
#include "rsh/internal/command.h"
#include "rsh/internal/frame_stream.h"
#include "rsh/internal/protocol.h"

namespace muster::rsh {

/// One command and its client, from the start to the last byte. Thread: one loop.
class Session {
  public:
    /// `protocol` has already read the request.
    Session(asio::any_io_executor executor, Clock& clock, Duration mercy,
            std::unique_ptr<FrameStream> frames, ClientProtocol protocol,
            std::unique_ptr<Command> command);

    /// Returns when the command has ended and the client knows it, or is gone.
    Task<void> run();
    /// The server is stopping: ends the command now.
    void end();

  private:
    Task<void> serve();
    void begin(const char* what, Task<void> part);
    Task<void> listen();
    Task<void> feed();
    Task<void> pump(Descriptor& from, FrameType type, bool& open);
    Task<void> wait_for_command();
    Task<void> have_mercy();
    Task<void> say_farewell();
    Task<bool> client_leaves();
    Task<void> lose_patience();
    void part();
    bool over() const;

    Clock& clock_;
    Duration mercy_;
    std::unique_ptr<FrameStream> frames_;
    ClientProtocol protocol_;
    std::unique_ptr<Command> command_;
    TaskGroup parts_;
    Signal changed_;
    std::deque<std::string> input_;
    Signal input_came_;
    bool input_ended_ = false;
    bool output_open_ = true;
    bool errors_open_ = true;
    bool client_gone_ = false;
    bool told_to_end_ = false;
    bool killed_ = false;  // by SIGKILL: output of what is left is not waited for
    bool farewell_ = false;
    bool parted_ = false;  // the client knows the end, or took too long to read it
    std::optional<Outcome> outcome_;
};

}  // namespace muster::rsh
