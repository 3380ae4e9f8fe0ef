#include <gtest/gtest.h>

#include "base/test_growth.h"
#include "rpc/internal/frames.h"

// What the other side of a connection sends is read in proportion to its size.

namespace muster::rpc::frames_growth_test {
namespace {

constexpr std::size_t kLongest = std::size_t{1} << 30;

std::string frame(std::string body) {
    Frame frame;
    frame.mutable_note()->set_method("m");
    frame.mutable_note()->set_body(std::move(body));
    std::string out;
    EXPECT_TRUE(append_frame(out, frame, kLongest));
    return out;
}
std::string many_frames(std::size_t size) {
    return repeated(size, [](std::size_t) { return frame("x"); });
}
std::string one_frame(std::size_t size) { return frame(std::string(size, 'x')); }

void read_frames(FrameReader& reader) {
    for (;;) {
        const auto frame = reader.next();
        ASSERT_TRUE(frame) << frame.error().message();
        if (!*frame) break;
    }
}
void in_pieces(std::string_view bytes) {
    constexpr std::size_t kPiece = 100;
    FrameReader reader(kLongest);
    for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
        reader.put(bytes.substr(at, kPiece));
        read_frames(reader);
    }
    ASSERT_FALSE(reader.torn());
}
void at_once(std::string_view bytes) {
    FrameReader reader(kLongest);
    reader.put(bytes);
    read_frames(reader);
}

class FramesGrowth : public ::testing::TestWithParam<GrowthCase> {};

TEST_P(FramesGrowth, IsLinear) { EXPECT_LE(growth_of(GetParam()), kLinearGrowth); }

INSTANTIATE_TEST_SUITE_P(Bytes, FramesGrowth,
                         ::testing::Values(GrowthCase{"many_frames", many_frames, in_pieces, 2'000},
                                           GrowthCase{"one_frame", one_frame, in_pieces, 500'000},
                                           GrowthCase{"frames_at_once", many_frames, at_once,
                                                      2'000}),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace muster::rpc::frames_growth_test
