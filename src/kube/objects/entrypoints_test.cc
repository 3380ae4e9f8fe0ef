#include "kube/objects/entrypoints.h"

#include <gmock/gmock.h>

namespace muster::kube::entrypoints_test {
namespace {

using ::testing::ElementsAre;

TEST(ImageName, FormsOfOneImageAreEqual) {
    for (const char* image :
         {"nginx", "nginx:1.27", "library/nginx", "docker.io/nginx", "docker.io/library/nginx:1.27",
          "index.docker.io/nginx", "nginx@sha256:0123", "nginx:1.27@sha256:0123"})
        EXPECT_EQ(image_name(image).repository, "docker.io/library/nginx") << image;
    EXPECT_EQ(image_name("pytorch/pytorch:2.1").repository, "docker.io/pytorch/pytorch");
    EXPECT_EQ(image_name("pytorch/pytorch:2.1").tag, "2.1");
    EXPECT_EQ(image_name("localhost:5000/a/b").repository, "localhost:5000/a/b");
    EXPECT_EQ(image_name("localhost:5000/a/b").tag, "");
    EXPECT_EQ(image_name("ghcr.io/a:1").repository, "ghcr.io/a");
    EXPECT_EQ(image_name("").repository, "docker.io/library/");
}

TEST(Entrypoints, ATagComesBeforeAllTags) {
    Entrypoints known;
    EXPECT_TRUE(known.empty());
    known.add("docker.io/library/trainer", {"train"});
    known.add("trainer:2", {"train2"});
    ASSERT_NE(known.of("trainer:1"), nullptr);
    EXPECT_THAT(*known.of("trainer:1"), ElementsAre("train"));
    EXPECT_THAT(*known.of("trainer:2@sha256:0"), ElementsAre("train2"));
    EXPECT_THAT(*known.of("trainer"), ElementsAre("train"));
    EXPECT_EQ(known.of("ghcr.io/trainer"), nullptr);
    Entrypoints more;
    more.add("trainer", {"other"});
    more.add("more", {"m"});
    known.add_missing(more);
    EXPECT_THAT(*known.of("trainer"), ElementsAre("train"));
    EXPECT_THAT(*known.of("more"), ElementsAre("m"));
    // Of one tag alone.
    Entrypoints tagged;
    tagged.add("a:1", {"x"});
    EXPECT_EQ(tagged.of("a:2"), nullptr);
    EXPECT_EQ(tagged.of("a"), nullptr);
}

TEST(CommandWords, AsAShellSplitsThem) {
    EXPECT_THAT(*command_words("python  -u /opt/train.py"),
                ElementsAre("python", "-u", "/opt/train.py"));
    EXPECT_THAT(*command_words(R"(sh -c 'a "b" $c' "d \"e\" \n" f\ g '')"),
                ElementsAre("sh", "-c", "a \"b\" $c", "d \"e\" \\n", "f g", ""));
    EXPECT_THAT(*command_words("a\nb"), ElementsAre("a", "b"));
    for (const char* wrong : {"", "  ", "sh 'a", "sh \"a", "sh \\", "''"})
        EXPECT_FALSE(command_words(wrong)) << wrong;
}

}  // namespace
}  // namespace muster::kube::entrypoints_test
