#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "rsh/internal/frames.h"

namespace muster::rsh {

// What each side may send, and when, as two state machines over frames:
//
//     client   Request (Input | InputEnd)*      no input after InputEnd, never more than the credit
//     server   (Credit | Output | Errors)* (Exited | Killed)      or Refused alone
//
// Anything else is kInvalid, and so is everything after it.

struct Start {
    std::string command;
    friend bool operator==(const Start&, const Start&) = default;
};
struct Input {
    std::string bytes;
    friend bool operator==(const Input&, const Input&) = default;
};
struct InputEnd {
    friend bool operator==(const InputEnd&, const InputEnd&) = default;
};
using ClientMessage = std::variant<Start, Input, InputEnd>;

/// The client's messages, as its server checks them.
class ClientProtocol {
  public:
    Result<ClientMessage> take(Frame frame);
    /// The command has consumed that many bytes of its input.
    void give_credit(std::size_t bytes) { credit_ += bytes; }

  private:
    std::size_t credit_ = kWindow;
    bool started_ = false;
    bool input_ended_ = false;
};

/// How a command ended.
struct Outcome {
    enum class How { kExited, kKilled, kRefused };
    How how = How::kExited;
    int number = 0;   ///< exit status or signal
    std::string why;  ///< for kRefused

    /// As a shell reports it: 128 + the signal, or 126 if it could not be started.
    int exit_status() const;
    friend bool operator==(const Outcome&, const Outcome&) = default;
};

struct Credit {
    std::size_t bytes = 0;
    friend bool operator==(const Credit&, const Credit&) = default;
};
struct Output {
    std::string bytes;
    bool is_error = false;  ///< written to stderr
    friend bool operator==(const Output&, const Output&) = default;
};
using ServerMessage = std::variant<Credit, Output, Outcome>;

/// The server's messages, as its client checks them.
class ServerProtocol {
  public:
    Result<ServerMessage> take(Frame frame);

  private:
    bool over_ = false;
    bool begun_ = false;
};

std::string request_frame(std::string_view command);
std::string outcome_frame(const Outcome& outcome);

}  // namespace muster::rsh
