#include "base/trimmed.h"

#include <gtest/gtest.h>

namespace muster::trimmed_test {
namespace {

TEST(Trimmed, TakesTheseBlanksOffBothEnds) {
    struct Row {
        std::string_view text, blanks, wanted;
    };
    for (const auto& [text, blanks, wanted] : {
             Row{"", " ", ""},
             Row{"   ", " ", ""},
             Row{"a", " ", "a"},
             Row{"  a b ", " ", "a b"},
             Row{"\ta ", " ", "\ta"},
             Row{"\ta ", " \t", "a"},
             Row{"a\r\n", " \t\r\n", "a"},
             Row{" a ", "", " a "},
         })
        EXPECT_EQ(trimmed(text, blanks), wanted) << '"' << text << '"';
}

}  // namespace
}  // namespace muster::trimmed_test
