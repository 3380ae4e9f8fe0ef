#include "runtime/stand_ins.h"

#include <gtest/gtest.h>

namespace muster::runtime::stand_ins_test {
namespace {

TEST(StandIns, OneForItsNamespaceGoesBeforeOneForAll) {
    const StandIns stand_ins{.config_maps = {},
                             .secrets = {{"a", {{"k", "all"}}}, {"ml/a", {{"k", "ml"}}}}};
    EXPECT_EQ(StandIns::find(stand_ins.secrets, "ml", "a")->at("k"), "ml");
    EXPECT_EQ(StandIns::find(stand_ins.secrets, "default", "a")->at("k"), "all");
    EXPECT_EQ(StandIns::find(stand_ins.secrets, "default", "b"), nullptr);
    EXPECT_EQ(StandIns::find(stand_ins.config_maps, "ml", "a"), nullptr);
}

}  // namespace
}  // namespace muster::runtime::stand_ins_test
