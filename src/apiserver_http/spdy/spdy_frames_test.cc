#include "apiserver_http/spdy/spdy_frames.h"

#include <gmock/gmock.h>

namespace muster::apiserver_http::spdy_frames_test {
namespace {

using namespace std::string_view_literals;
using Kind = SpdyFrame::Kind;

std::string from_hex(std::string_view hex) {
    std::string bytes;
    for (std::size_t i = 0; i < hex.size(); i += 2)
        bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
    return bytes;
}

std::vector<SpdyFrame> decode(SpdyDecoder& decoder, std::string_view bytes) {
    std::vector<SpdyFrame> frames;
    decoder.put(bytes);
    for (;;) {
        auto frame = decoder.next();
        EXPECT_TRUE(frame) << frame.error();
        if (!frame || !*frame) return frames;
        frames.push_back(**std::move(frame));
    }
}

std::string error_of(std::string_view bytes) {
    SpdyDecoder decoder;
    decoder.put(bytes);
    for (;;) {
        auto frame = decoder.next();
        if (!frame) return frame.error();
        if (!*frame) return "none";
    }
}

/// A port forwarded by another implementation of SPDY: two streams, a request, a ping, an end.
const char* const kForward =
    "800300010000003c0000000100000000000078bbe3c6a7c202253a703a2b294a4dcc851625aca9a0808614cb45a0"
    "24cc64610024398b209198094adc8c0600000000ffff000000010100000080030001000000180000000300000000"
    "0000c2aa15540a2512d209000000ffff0000000300000012474554202f20485454502f312e300d0a0d0a80030006"
    "00000004000000070000000301000000";

TEST(SpdyFramesTest, WhatAClientSends) {
    const std::string bytes = from_hex(kForward);
    SpdyDecoder decoder;
    const std::vector<SpdyFrame> frames = decode(decoder, bytes);
    ASSERT_EQ(frames.size(), 6u);
    EXPECT_EQ(frames[0].kind, Kind::kOpen);
    EXPECT_EQ(frames[0].stream, 1u);
    EXPECT_EQ(frames[0].headers,
              (SpdyHeaders{{"streamtype", "error"}, {"port", "80"}, {"requestid", "0"}}));
    EXPECT_EQ(frames[1].kind, Kind::kData);
    EXPECT_TRUE(frames[1].last);
    EXPECT_EQ(frames[2].stream, 3u);
    EXPECT_EQ(frames[2].headers,
              (SpdyHeaders{{"streamtype", "data"}, {"port", "80"}, {"requestid", "0"}}))
        << "the second block needs the first one";
    EXPECT_EQ(frames[3].data, "GET / HTTP/1.0\r\n\r\n");
    EXPECT_FALSE(frames[3].last);
    EXPECT_EQ(frames[4].kind, Kind::kPing);
    EXPECT_EQ(frames[4].number, 7u);
    EXPECT_EQ(frames[5].stream, 3u);
    EXPECT_TRUE(frames[5].last);
}

TEST(SpdyFramesTest, BytesMayComeOneByOne) {
    const std::string bytes = from_hex(kForward);
    SpdyDecoder decoder;
    std::size_t frames = 0;
    for (const char c : bytes) frames += decode(decoder, {&c, 1}).size();
    EXPECT_EQ(frames, 6u);
}

TEST(SpdyFramesTest, WhatAServerSends) {
    SpdyEncoder encoder;
    // The compressed streams of both directions are alike, so the reader of one reads the other.
    SpdyHeaderReader reader;
    for (const std::uint32_t stream : {1u, 3u}) {
        const std::string reply = encoder.reply(stream);
        EXPECT_EQ(reply.substr(0, 4), "\x80\x03\x00\x02"sv);
        EXPECT_EQ(reply.substr(8, 4), std::string("\0\0\0", 3) + static_cast<char>(stream));
        const auto headers = reader.read(std::string_view(reply).substr(12));
        ASSERT_TRUE(headers) << headers.error();
        EXPECT_TRUE(headers->empty());
    }
    EXPECT_EQ(SpdyEncoder::data(3, "hi", true), "\0\0\0\3\1\0\0\2hi"sv);
    EXPECT_EQ(SpdyEncoder::data(3, "", false), "\0\0\0\3\0\0\0\0"sv);
    EXPECT_EQ(SpdyEncoder::reset(3, 1), "\x80\3\0\3\0\0\0\x08\0\0\0\3\0\0\0\1"sv);
    EXPECT_EQ(SpdyEncoder::ping(7), "\x80\3\0\6\0\0\0\4\0\0\0\7"sv);
}

TEST(SpdyFramesTest, WhatAClientOpensIsReadAsItWasMeant) {
    SpdyEncoder encoder;
    SpdyDecoder decoder;
    const SpdyHeaders error{{"streamtype", "error"}, {"port", "80"}, {"requestid", "0"}};
    const SpdyHeaders data{{"streamtype", "data"}, {"port", "80"}, {"requestid", "0"}};
    std::string bytes = encoder.open(1, error, true);
    bytes += encoder.open(3, data, false);
    const std::vector<SpdyFrame> frames = decode(decoder, bytes);
    ASSERT_EQ(frames.size(), 2u);
    EXPECT_EQ(frames[0].kind, Kind::kOpen);
    EXPECT_EQ(frames[0].stream, 1u);
    EXPECT_EQ(frames[0].headers, error);
    EXPECT_TRUE(frames[0].last);
    EXPECT_EQ(frames[1].stream, 3u);
    EXPECT_EQ(frames[1].headers, data);
    EXPECT_FALSE(frames[1].last);
}

TEST(SpdyFramesTest, HeadersComeBackAsTheyWere) {
    SpdyHeaderWriter writer;
    SpdyHeaderReader reader;
    const SpdyHeaders blocks[] = {{}, {{"a", ""}, {"", "b"}}, {{"long", std::string(20'000, 'x')}}};
    for (const SpdyHeaders& headers : blocks) {
        const auto read = reader.read(writer.write(headers));
        ASSERT_TRUE(read) << read.error();
        EXPECT_EQ(*read, headers);
    }
    EXPECT_EQ(reader.read(writer.write({{"bomb", std::string(1'000'000, 'x')}})).error(),
              "too many headers");
}

TEST(SpdyFramesTest, WhatIsNoSpdyIsRefused) {
    struct Case {
        std::string_view bytes;
        std::string error;
    };
    const Case cases[] = {
        {"\x80\2\0\1\0\0\0\0"sv, "version 2 of SPDY"},
        {"\x80\3\0\1\0\0\0\x0csomethingzzz"sv, "headers that are not well compressed"},
        {"\x80\3\0\1\0\0\0\x0a\0\0\0\1\0\0\0\0\0\0"sv, "headers that are cut short"},
        {"\x80\3\0\6\0\0\0\3\0\0\0"sv, "a frame of type 6 that is cut short"},
        {"\x80\3\0\1\0\xff\xff\xff"sv, "a frame of 16777215 bytes"},
        {"\0\0\0\1\0\xff\xff\xff"sv, "a frame of 16777215 bytes"},
        {"\x80\3\0\x09\0\0\0\x08\0\0\0\1\0\0\0\1"sv, "none"},
        {"\x80\3\0\x63\0\0\0\1?"sv, "none"},
    };
    for (const Case& c : cases) EXPECT_EQ(error_of(c.bytes), c.error);
}

}  // namespace
}  // namespace muster::apiserver_http::spdy_frames_test
