#include "checkpoint/format/composed.h"

#include <gtest/gtest.h>

#include <utility>

#include "checkpoint/format/python_fixture.h"

namespace muster::checkpoint::composed_test {
namespace {

TEST(Composed, WhatItOwnsIsOnePieceAndStaysWhenItMoves) {
    const std::string image = "image";
    Composed file;
    std::string expected;
    for (int i = 0; i < 1000; ++i) {
        file.add_owned("a");
        file.add_owned("");
        file.add_owned(std::string(static_cast<std::size_t>(i), 'b'));
        file.add(std::as_bytes(std::span(image)));
        file.add({});
        expected += "a" + std::string(static_cast<std::size_t>(i), 'b') + image;
    }
    const Composed moved = std::move(file);
    EXPECT_EQ(moved.pieces().size(), 2000u);
    EXPECT_EQ(moved.bytes(), expected.size());
    EXPECT_EQ(text_of(moved), expected);
    EXPECT_EQ(static_cast<const void*>(moved.pieces()[1].data()), image.data()) << "no copy";
}

}  // namespace
}  // namespace muster::checkpoint::composed_test
