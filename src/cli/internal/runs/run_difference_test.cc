#include "cli/internal/runs/run_difference.h"

#include <gmock/gmock.h>

namespace muster::cli::run_difference_test {
namespace {

using testing::IsEmpty;

RunTexts texts() {
    RunTexts made;
    made.record.command = {"run", "a b.yaml"};
    made.record.directory = "/d";
    made.record.end = RunEnd{.at = WallTime(std::chrono::seconds(3)),
                             .status = 0,
                             .result = "succeeded",
                             .why = {},
                             .restarts = 0,
                             .bytes = 0};
    made.manifest =
        "kind: A\nmetadata: {name: x}\nspec: {count: 1, list: [a, {b: 2}]}\n---\nkind: "
        "B\nmetadata: "
        "{name: y}\n";
    made.environment = "A=1\nB=x=y\n";
    made.packages = "numpy 1.2\ntorch 2.0\n";
    return made;
}

TEST(RunDifference, NothingOfTwoThatAreAlike) {
    EXPECT_THAT(differences_of(texts(), texts()), IsEmpty());
}

TEST(RunDifference, EachPartIsCompared) {
    RunTexts after = texts();
    after.record.command = {"run", "c.yaml"};
    after.record.end->status = 3;
    after.record.end->result = "failed";
    // Another order of the objects is no difference.
    after.manifest =
        "kind: B\nmetadata: {name: y}\n---\nkind: A\nmetadata: {name: x}\nspec: {count: 2, list: "
        "[a, "
        "{}]}\n";
    after.environment = "B=x=z\nC=\n";
    after.packages = "numpy 1.2\ntorch 2.1\n";
    EXPECT_EQ(differences_text(differences_of(texts(), after)),
              "result\n"
              "  succeeded -> failed\n"
              "  exit status: 0 -> 3\n"
              "command\n"
              "  run 'a b.yaml' -> run c.yaml\n"
              "manifest\n"
              "  A x: spec.count: 1 -> 2\n"
              "  A x: spec.list[1]: - -> {}\n"
              "  A x: spec.list[1].b: 2 -> -\n"
              "environment\n"
              "  A: 1 -> -\n"
              "  B: x=y -> x=z\n"
              "  C: - -> -\n"
              "packages\n"
              "  torch: 2.0 -> 2.1\n");
}

TEST(RunDifference, ATextBySections) {
    EXPECT_EQ(differences_text({{"result", "", "succeeded", "failed"},
                                {"result", "took", "1 s", "2 s"},
                                {"environment", "A", "", "x"}}),
              "result\n  succeeded -> failed\n  took: 1 s -> 2 s\nenvironment\n  A: - -> x\n");
    EXPECT_EQ(differences_json({{"result", "", "a", "b"}}),
              "[{\"section\":\"result\",\"what\":\"\",\"before\":\"a\",\"after\":\"b\"}]\n");
}

TEST(RunDifference, ARunWithoutEnd) {
    RunTexts lost = texts();
    lost.record.end.reset();
    EXPECT_THAT(differences_of(texts(), lost),
                testing::Contains(RunDifference{"result", "", "succeeded", "no end"}));
}

}  // namespace
}  // namespace muster::cli::run_difference_test
