#include "cli/internal/command_line/near_verbs.h"

#include <gmock/gmock.h>

#include "cli/internal/command_line/command_line.h"
#include "cli/internal/verbs/verbs.h"

namespace muster::cli::near_verbs_test {
namespace {

using testing::HasSubstr;

TEST(NearVerbs, OtherToolsWordsLeadToOurs) {
    for (const char* word : {"new", "create", "submit", "start", "ps", "stop", "rm", "list",
                             "torchrun", "mpirun", "accelerate", "serve", "lint", "install"}) {
        const Command command = parse_command_line({word, "x"});
        const auto* const print = std::get_if<Print>(&command);
        // Those that became verbs since need no advice.
        if (print == nullptr) continue;
        EXPECT_EQ(print->exit_code, 2);
        EXPECT_THAT(print->err, HasSubstr("'muster ")) << word;
    }
    EXPECT_THAT(advice_for_line({"train.py", "--lr", "1"}).value_or(""),
                HasSubstr("'muster run train.py --lr 1'"));
    EXPECT_THAT(advice_for_line({"job.yaml"}).value_or(""), HasSubstr("'muster run job.yaml'"));
    EXPECT_EQ(advice_for_line({"frobnicate"}), std::nullopt);
    EXPECT_EQ(advice_for_line({}), std::nullopt);
}

}  // namespace
}  // namespace muster::cli::near_verbs_test
