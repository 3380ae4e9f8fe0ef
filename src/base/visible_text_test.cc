#include "base/visible_text.h"

#include <gtest/gtest.h>

#include <string>

namespace muster::visible_text_test {
namespace {

TEST(VisibleText, NothingOfItIsObeyed) {
    struct Row {
        const char* text;
        const char* shown;
    };
    for (const Row& row : {
             Row{"plain gr\xc3\xbcn \xe2\x82\xac", "plain gr\xc3\xbcn \xe2\x82\xac"},
             Row{"\x1b]0;title\x07", "\\x1b]0;title\\x07"},
             Row{"\x1b[2J\r\x7f\b", "\\x1b[2J\\x0d\\x7f\\x08"},
             Row{"\xc2\x9b"
                 "2J\xc2\x85",
                 "\\u009b2J\\u0085"},
             Row{"\x9b"
                 "2J",
                 "\xef\xbf\xbd"
                 "2J"},
             Row{"a\xe2\x80\xae"
                 "b\xe2\x81\xa6",
                 "a\\u202eb\\u2066"},
             Row{"\xc2\xa0\xe2\x80\x93", "\xc2\xa0\xe2\x80\x93"},
         }) {
        EXPECT_EQ(visible_text(row.text), row.shown);
        EXPECT_EQ(visible_line(row.text), row.shown);
    }
    EXPECT_EQ(visible_text("a\tb\nc"), "a\tb\nc");
    EXPECT_EQ(visible_line("a\tb\nc"), "a\tb\\nc");
}

TEST(VisibleText, StylesCanBeTakenAway) {
    EXPECT_EQ(without_styles("\x1b[1;31mred\x1b[0m and \x1b[2Jplain\x1b"),
              "red and \x1b[2Jplain\x1b");
}

TEST(LogLineForTerminal, KeepsColoursAndLosesTheRest) {
    struct Row {
        const char* line;
        const char* shown;
    };
    for (const Row& row : {
             Row{"plain\tgr\xc3\xbcn", "plain\tgr\xc3\xbcn"},
             Row{"\x1b[1;31mred\x1b[0m", "\x1b[1;31mred\x1b[0m"},
             Row{"\x1b[38:2::1:2:3mtrue", "\x1b[38:2::1:2:3mtrue\x1b[0m"},
             Row{"\x1b[8mhidden", "\x1b[8mhidden\x1b[0m"},
             Row{"\x1b[2J\x1b[Hgone", "gone"},
             Row{"\x1b[>4;1mkeys", "keys"},
             Row{"\x1b]0;title\x07text", "text"},
             Row{"\x1b]52;c;eA==\x1b\\text", "text"},
             Row{"\x1bP+q\x1b\\text", "text"},
             Row{"\x1b]0;without end", ""},
             Row{"\x1b[12", ""},
             Row{"\x1b", ""},
             Row{"\x1b\x1b[2Jtext", "text"},
             Row{"\x1b(0text\x1b"
                 "ctext",
                 "texttext"},
             Row{"\xc2\x9b"
                 "2Jtext\xc2\x9d"
                 "0;title\xc2\x9ctext",
                 "texttext"},
             Row{"\xc2\x9b"
                 "31mred",
                 "red"},
             Row{"over\rwritten\b\x07\x0e", "overwritten"},
             Row{"a\xe2\x80\xae"
                 "b",
                 "ab"},
             Row{"a\x9b"
                 "b",
                 "a\xef\xbf\xbd"
                 "b"},
         })
        EXPECT_EQ(log_line_for_terminal(row.line, true), row.shown) << row.shown;
    EXPECT_EQ(log_line_for_terminal("\x1b[1;31mred\x1b[0m", false), "red");
}

}  // namespace
}  // namespace muster::visible_text_test
