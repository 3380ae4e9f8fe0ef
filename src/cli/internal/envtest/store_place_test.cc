#include "cli/internal/envtest/store_place.h"

#include <gtest/gtest.h>

namespace muster::cli::store_place_test {
namespace {

TEST(StorePlace, IsReadAsItWasWritten) {
    for (const StorePlace& place : {StorePlace{"/tmp/a b", true}, StorePlace{"/\"\n", false}}) {
        const auto read = read_store_place(store_place_text(place));
        ASSERT_TRUE(read.has_value());
        EXPECT_EQ(*read, place);
    }
}

TEST(StorePlace, AnAnswerOfAnotherProgramIsNone) {
    for (const char* text : {"", "404 page not found", "[]", "{}", R"({"dataDir":"/a"})",
                             R"({"dataDir":1,"sync":true})", R"({"dataDir":"a","sync":true})",
                             R"({"dataDir":"/a","sync":"no"})"})
        EXPECT_FALSE(read_store_place(text).has_value()) << text;
}

}  // namespace
}  // namespace muster::cli::store_place_test
