#include "rsh/internal/frames.h"

#include <gtest/gtest.h>

#include <vector>

namespace muster::rsh::frames_test {
namespace {

std::vector<Frame> all_of(FrameReader& reader) {
    std::vector<Frame> frames;
    for (;;) {
        const auto frame = reader.next();
        EXPECT_TRUE(frame) << frame.error().message();
        if (!frame || !*frame) return frames;
        frames.push_back(**frame);
    }
}

TEST(Frames, AreTheSameHoweverTheyArrive) {
    const std::vector<Frame> sent = {{FrameType::kRequest, "\1hostname"},
                                     {FrameType::kInput, std::string(kMostData, 'x')},
                                     {FrameType::kInputEnd, ""},
                                     {FrameType::kExited, std::string(1, '\0')}};
    std::string bytes;
    for (const Frame& frame : sent) bytes += frame_text(frame.type, frame.payload);
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, bytes.size()}) {
        FrameReader reader;
        std::vector<Frame> read;
        for (std::size_t at = 0; at < bytes.size(); at += piece) {
            reader.put(std::string_view(bytes).substr(at, piece));
            for (Frame& frame : all_of(reader)) read.push_back(std::move(frame));
        }
        EXPECT_EQ(read, sent) << piece;
        EXPECT_TRUE(reader.between_frames());
    }
}

TEST(Frames, ACutOneIsNotOne) {
    const std::string whole = frame_text(FrameType::kOutput, "abc");
    for (std::size_t size = 1; size < whole.size(); ++size) {
        FrameReader reader;
        reader.put(std::string_view(whole).substr(0, size));
        EXPECT_FALSE(reader.next().value()) << size;
        EXPECT_FALSE(reader.between_frames()) << size;
    }
}

TEST(Frames, WhatIsNoneIsRefusedBeforeItIsThere) {
    const std::pair<FrameType, std::size_t> rows[] = {
        {static_cast<FrameType>(0), 0},
        {static_cast<FrameType>(10), 1},
        {FrameType::kRequest, kMostCommand + 2},
        {FrameType::kInput, kMostData + 1},
        {FrameType::kInputEnd, 1},
        {FrameType::kCredit, 5},
        {FrameType::kExited, 2},
        {FrameType::kOutput, 0xffffffff},
    };
    for (const auto& [type, size] : rows) {
        FrameReader reader;
        reader.put(frame_head(type, size));
        for (int again = 0; again < 2; ++again) {
            const auto frame = reader.next();
            ASSERT_FALSE(frame) << static_cast<int>(type) << " " << size;
            EXPECT_EQ(frame.error().code(), Code::kInvalid);
        }
    }
}

}  // namespace
}  // namespace muster::rsh::frames_test
