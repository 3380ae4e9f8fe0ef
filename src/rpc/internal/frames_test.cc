#include "rpc/internal/frames.h"

#include <gtest/gtest.h>

namespace muster::rpc::frames_test {
namespace {

Frame note(std::string body) {
    Frame frame;
    frame.mutable_note()->set_method("m");
    frame.mutable_note()->set_body(std::move(body));
    return frame;
}

std::string bytes_of(std::initializer_list<Frame> frames) {
    std::string out;
    for (const Frame& frame : frames) EXPECT_TRUE(append_frame(out, frame, 1 << 20));
    return out;
}

/// The bodies that come out, and how it ends.
std::string read_all(FrameReader& reader) {
    std::string out;
    for (;;) {
        auto frame = reader.next();
        if (!frame) return out + "!" + frame.error().message();
        if (!*frame) return out;
        out += (*frame)->note().body() + ";";
    }
}

TEST(Frames, AreReadHoweverTheyAreCut) {
    const std::string bytes = bytes_of({note("one"), note(""), note(std::string(100'000, 'x'))});
    for (std::size_t piece : {std::size_t{1}, std::size_t{3}, std::size_t{4}, std::size_t{5},
                              std::size_t{4096}, bytes.size()}) {
        FrameReader reader(1 << 20);
        std::string said;
        for (std::size_t at = 0; at < bytes.size(); at += piece) {
            reader.put(std::string_view(bytes).substr(at, piece));
            said += read_all(reader);
        }
        EXPECT_EQ(said, "one;;" + std::string(100'000, 'x') + ";") << piece;
        EXPECT_FALSE(reader.torn()) << piece;
    }
}

TEST(Frames, ThoseOfTorchsStoreAreKnownByTheirBeginning) {
    FrameReader reader(16 << 20);
    reader.put(std::string_view("\0\xCE\xF7", 3));
    EXPECT_EQ(read_all(reader), "");
    reader.put("\x85\x3C");
    EXPECT_EQ(read_all(reader), "!it is a client of torch's own store, and not an agent");
}

// As torch 1.13 begins: of torchrun COMPARE_SET with the key of its rendezvous, of a worker ADD with
// the key by which workers are counted. Both come in pieces.
TEST(Frames, ThoseOfTorchBefore21AreKnownByACommandWithTheLengthOfItsKey) {
    const std::string rendezvous = std::string("\x01\x13\0\0\0\0\0\0\0", 9) + "/torch.rendezvous.a";
    const std::string worker = std::string("\x03\x06\0\0\0\0\0\0\0", 9) + "/init/";
    for (const std::string& bytes : {rendezvous, worker}) {
        for (const std::size_t longest : {std::size_t{1000}, std::size_t{16} << 20}) {
            FrameReader reader(longest);
            for (std::size_t at = 0; at < 8; ++at) {
                reader.put(bytes.substr(at, 1));
                EXPECT_EQ(read_all(reader), "") << at;
            }
            reader.put(bytes.substr(8));
            EXPECT_EQ(
                read_all(reader),
                "!it is a client of torch's own store (of torch before 2.1), and not an agent");
        }
    }
}

TEST(Frames, AMessageWhoseLengthLooksLikeACommandOfTorchIsRead) {
    std::string body(240, 'x');
    Frame frame = note(body);
    while (frame.ByteSizeLong() < 258) frame = note(body += 'x');
    ASSERT_EQ(frame.ByteSizeLong(), 258U) << "a GET with a key of one byte";
    FrameReader reader(1 << 20);
    const std::string bytes = bytes_of({frame});
    reader.put(bytes.substr(0, 4));
    EXPECT_EQ(read_all(reader), "");
    reader.put(bytes.substr(4));
    EXPECT_EQ(read_all(reader), body + ";");
    FrameReader shorter(100);
    shorter.put(bytes.substr(0, 5));
    EXPECT_EQ(read_all(shorter), "!a message of 258 bytes; at most 100 are allowed here");
}

TEST(Frames, KnowsThatAnEndTearsOne) {
    const std::string bytes = bytes_of({note("one")});
    FrameReader reader(100);
    EXPECT_FALSE(reader.torn());
    reader.put(std::string_view(bytes).substr(0, 2));
    EXPECT_TRUE(reader.torn()) << "in its length";
    EXPECT_EQ(read_all(reader), "");
    reader.put(std::string_view(bytes).substr(2, 5));
    EXPECT_EQ(read_all(reader), "");
    EXPECT_TRUE(reader.torn()) << "in its body";
    reader.put(std::string_view(bytes).substr(7));
    EXPECT_EQ(read_all(reader), "one;");
    EXPECT_FALSE(reader.torn());
}

TEST(Frames, OneThatIsTooLongIsRefusedByItsLengthAlone) {
    FrameReader reader(10);
    reader.put(std::string("\x0b\0\0\0", 4));
    EXPECT_EQ(read_all(reader), "!a message of 11 bytes; at most 10 are allowed here");
    FrameReader huge(1000);
    huge.put("\xff\xff\xff\xff");
    EXPECT_EQ(read_all(huge), "!a message of 4294967295 bytes; at most 1000 are allowed here");
}

TEST(Frames, TheLimitIsOfItsBytesAlone) {
    const Frame frame = note("12345");
    const std::size_t size = frame.ByteSizeLong();
    std::string out;
    EXPECT_EQ(append_frame(out, frame, size - 1).error().code(), Code::kTooLarge);
    EXPECT_EQ(out, "");
    ASSERT_TRUE(append_frame(out, frame, size));
    FrameReader reader(size - 1);
    reader.put(out);
    reader.allow(size);
    EXPECT_EQ(read_all(reader), "12345;");
}

TEST(Frames, WhatIsNoneIsSaidToBeNone) {
    struct Case {
        const char* about;
        std::string bytes;
        std::string wanted;
    };
    const std::string none = "not a message of this protocol";
    const std::string unknown = "a message of a kind unknown to this version";
    for (const Case& c : {
             Case{"text", std::string("\x04\0\0\0GET ", 8), none},
             Case{"nothing", std::string("\0\0\0\0", 4), unknown},
             Case{"a field of tomorrow", std::string("\x03\0\0\0\xa2\x06\0", 7), unknown},
             Case{"a field that is cut", std::string("\x02\0\0\0\x0a\x05", 6), none},
         }) {
        FrameReader reader(100);
        reader.put(c.bytes);
        EXPECT_EQ(read_all(reader), "!" + c.wanted) << c.about;
    }
}

TEST(Frames, AFieldOfTomorrowIsPassedOver) {
    Frame frame = note("known");
    std::string bytes = frame.SerializeAsString();
    bytes[1] = static_cast<char>(bytes[1] + 3);  // the note is longer by a field 100 of no bytes
    bytes += std::string("\xa2\x06\0", 3);
    FrameReader reader(100);
    reader.put(std::string(1, static_cast<char>(bytes.size())) + std::string(3, '\0') + bytes);
    EXPECT_EQ(read_all(reader), "known;");
}

}  // namespace
}  // namespace muster::rpc::frames_test
