#include "apiserver_http/internal/printing/cell_text.h"

#include <gtest/gtest.h>

namespace muster::apiserver_http::cell_text_test {
namespace {

TEST(CellText, LongListsAreCut) {
    EXPECT_EQ(shortened({}, 2, "<none>"), "<none>");
    EXPECT_EQ(shortened({"a", "b"}, 2, "<none>"), "a,b");
    EXPECT_EQ(shortened({"a", "b", "c", "d"}, 2, "<none>"), "a,b + 2 more...");
}

}  // namespace
}  // namespace muster::apiserver_http::cell_text_test
