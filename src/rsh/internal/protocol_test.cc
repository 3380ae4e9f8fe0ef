#include "rsh/internal/protocol.h"

#include <gtest/gtest.h>

#include <vector>

namespace muster::rsh::protocol_test {
namespace {

struct ProtocolCase {
    std::string name;
    std::vector<std::string> frames;
    std::size_t taken;  ///< so many are, then one is refused; all of them: none is
};

const std::string kHello = request_frame("hostname");
const std::string kEnd = frame_text(FrameType::kInputEnd, "");

std::string input(std::size_t size) {
    return frame_text(FrameType::kInput, std::string(size, 'i'));
}
std::string window() {
    std::string all;
    for (std::size_t size = 0; size < kWindow; size += kMostData) all += input(kMostData);
    return all;
}

template <class Protocol>
std::size_t taken_of(Protocol& protocol, const ProtocolCase& row) {
    FrameReader reader;
    std::size_t taken = 0;
    for (const std::string& bytes : row.frames) {
        reader.put(bytes);
        for (;;) {
            const auto frame = reader.next();
            if (!frame || !*frame) break;
            const auto said = protocol.take(**frame);
            if (!said) {
                EXPECT_EQ(said.error().code(), Code::kInvalid);
                return taken;
            }
        }
        ++taken;
    }
    return taken;
}

TEST(Protocol, AClientAsksOnceAndSendsNoMoreThanThereIsRoomFor) {
    for (const ProtocolCase& row : std::vector<ProtocolCase>{
             {"a command", {kHello}, 1},
             {"with input", {kHello, input(1), input(0), kEnd}, 4},
             {"with a window full of it", {kHello, window(), kEnd}, 3},
             {"and a byte more", {kHello, window(), input(1)}, 2},
             {"input first", {input(1)}, 0},
             {"two commands", {kHello, kHello}, 1},
             {"input after its end", {kHello, kEnd, input(0)}, 2},
             {"two ends", {kHello, kEnd, kEnd}, 2},
             {"what servers say", {kHello, frame_text(FrameType::kOutput, "x")}, 1},
             {"no command", {request_frame("")}, 0},
             {"a command with a zero", {request_frame(std::string("a\0b", 3))}, 0},
             {"another version", {frame_text(FrameType::kRequest, "\2ls")}, 0},
             {"no version", {frame_text(FrameType::kRequest, "")}, 0},
         }) {
        SCOPED_TRACE(row.name);
        ClientProtocol protocol;
        EXPECT_EQ(taken_of(protocol, row), row.taken);
    }
    ClientProtocol protocol;
    EXPECT_EQ(taken_of(protocol, {"", {kHello, window()}, 2}), 2);
    protocol.give_credit(2);
    EXPECT_EQ(taken_of(protocol, {"", {input(2), input(1)}, 1}), 1);
}

TEST(Protocol, AServerEndsOnce) {
    const std::string output = frame_text(FrameType::kOutput, "x");
    const std::string exited = outcome_frame({Outcome::How::kExited, 7, {}});
    const std::string refused = outcome_frame({Outcome::How::kRefused, 0, "no"});
    for (const ProtocolCase& row : std::vector<ProtocolCase>{
             {"output, credit, end", {output, credit_frame(5), exited}, 3},
             {"refused", {refused}, 1},
             {"refused after output", {output, refused}, 1},
             {"output after the end", {exited, output}, 1},
             {"two ends", {exited, exited}, 1},
             {"what clients say", {kHello}, 0},
             {"an end without a number", {frame_text(FrameType::kExited, "")}, 0},
             {"a credit without a number", {frame_text(FrameType::kCredit, "123")}, 0},
         }) {
        SCOPED_TRACE(row.name);
        ServerProtocol protocol;
        EXPECT_EQ(taken_of(protocol, row), row.taken);
    }
}

TEST(Protocol, AnOutcomeArrivesAsItWas) {
    for (const Outcome& outcome :
         {Outcome{Outcome::How::kExited, 0, {}}, Outcome{Outcome::How::kExited, 255, {}},
          Outcome{Outcome::How::kKilled, 9, {}},
          Outcome{Outcome::How::kRefused, 0, "there is no shell"}}) {
        FrameReader reader;
        reader.put(outcome_frame(outcome));
        ServerProtocol protocol;
        EXPECT_EQ(std::get<Outcome>(protocol.take(*reader.next().value()).value()), outcome);
    }
    EXPECT_EQ((Outcome{Outcome::How::kExited, 7, {}}).exit_status(), 7);
    EXPECT_EQ((Outcome{Outcome::How::kKilled, 15, {}}).exit_status(), 143);
    EXPECT_EQ((Outcome{Outcome::How::kRefused, 0, {}}).exit_status(), 126);
}

}  // namespace
}  // namespace muster::rsh::protocol_test
