#include "rsh/internal/protocol.h"

#include <fmt/format.h>

namespace muster::rsh {

namespace {

Error out_of_turn(FrameType type) {
    return Error(Code::kInvalid,
                 fmt::format("a frame of type {} does not belong here", static_cast<int>(type)));
}

Result<Start> read_request(const std::string& payload) {
    if (payload.empty()) return Error(Code::kInvalid, "a request without a version");
    const auto version = static_cast<std::uint8_t>(payload.front());
    if (version != kVersion)
        return Error(Code::kInvalid,
                     fmt::format("the other side speaks version {} of this protocol, and this side "
                                 "version {}; use the same muster in all pods of a job",
                                 version, kVersion));
    std::string command = payload.substr(1);
    if (command.empty()) return Error(Code::kInvalid, "a request without a command");
    if (command.find('\0') != std::string::npos)
        return Error(Code::kInvalid, "a command must not contain a zero byte");
    return Start{std::move(command)};
}

}  // namespace

Result<ClientMessage> ClientProtocol::take(Frame frame) {
    if (frame.type == FrameType::kRequest && !started_) {
        started_ = true;
        TRY(Start start, read_request(frame.payload));
        return ClientMessage(std::move(start));
    }
    if (!started_ || input_ended_) return out_of_turn(frame.type);
    if (frame.type == FrameType::kInputEnd) {
        input_ended_ = true;
        return ClientMessage(InputEnd{});
    }
    if (frame.type != FrameType::kInput) return out_of_turn(frame.type);
    if (frame.payload.size() > credit_)
        return Error(Code::kInvalid, "more input than was asked for");
    credit_ -= frame.payload.size();
    return ClientMessage(Input{std::move(frame.payload)});
}

int Outcome::exit_status() const {
    switch (how) {
        case How::kExited:
            return number;
        case How::kKilled:
            return 128 + number;
        case How::kRefused:
            return 126;
    }
    return 126;
}

Result<ServerMessage> ServerProtocol::take(Frame frame) {
    if (over_) return out_of_turn(frame.type);
    switch (frame.type) {
        case FrameType::kCredit: {
            if (frame.payload.size() != 4) return Error(Code::kInvalid, "a credit of no number");
            std::size_t bytes = 0;
            for (const char byte : frame.payload)
                bytes = bytes << 8 | static_cast<std::uint8_t>(byte);
            begun_ = true;
            return ServerMessage(Credit{bytes});
        }
        case FrameType::kOutput:
        case FrameType::kErrors:
            begun_ = true;
            return ServerMessage(
                Output{std::move(frame.payload), frame.type == FrameType::kErrors});
        case FrameType::kExited:
        case FrameType::kKilled: {
            if (frame.payload.size() != 1) return Error(Code::kInvalid, "an end without a number");
            over_ = true;
            return ServerMessage(Outcome{.how = frame.type == FrameType::kExited
                                                    ? Outcome::How::kExited
                                                    : Outcome::How::kKilled,
                                         .number = static_cast<std::uint8_t>(frame.payload.front()),
                                         .why = {}});
        }
        case FrameType::kRefused:
            if (begun_) return out_of_turn(frame.type);
            over_ = true;
            return ServerMessage(
                Outcome{.how = Outcome::How::kRefused, .number = 0, .why = frame.payload});
        case FrameType::kRequest:
        case FrameType::kInput:
        case FrameType::kInputEnd:
            break;
    }
    return out_of_turn(frame.type);
}

std::string request_frame(std::string_view command) {
    std::string payload(1, static_cast<char>(kVersion));
    payload += command;
    return frame_text(FrameType::kRequest, payload);
}

std::string outcome_frame(const Outcome& outcome) {
    switch (outcome.how) {
        case Outcome::How::kExited:
            return frame_text(FrameType::kExited,
                              std::string(1, static_cast<char>(outcome.number)));
        case Outcome::How::kKilled:
            return frame_text(FrameType::kKilled,
                              std::string(1, static_cast<char>(outcome.number)));
        case Outcome::How::kRefused:
            break;
    }
    return frame_text(FrameType::kRefused, std::string_view(outcome.why).substr(0, kMostData));
}

}  // namespace muster::rsh
