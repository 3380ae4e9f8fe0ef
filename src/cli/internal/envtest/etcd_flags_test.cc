#include "cli/internal/envtest/etcd_flags.h"

#include <gmock/gmock.h>

namespace muster::cli::etcd_flags_test {
namespace {

using control_plane::ListenAddress;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Result<EtcdOptions> read(const std::vector<std::string>& words) {
    const auto given = parse_go_flags(GoFlagStyle::kStandard, "etcd", etcd_flags(), words);
    if (!given) return given.error();
    return read_etcd_flags(*given);
}

TEST(EtcdFlags, WhatEnvtestSendsIsHonoured) {
    const auto options =
        read({"--advertise-client-urls=http://127.0.0.1:41011", "--data-dir=/tmp/data",
              "--listen-client-urls=http://127.0.0.1:41011",
              "--listen-peer-urls=http://127.0.0.1:41012", "--unsafe-no-fsync=true"});
    ASSERT_TRUE(options.has_value()) << options.error().message();
    EXPECT_THAT(options->listen, ElementsAre(ListenAddress{"127.0.0.1", 41011}));
    EXPECT_EQ(options->data_dir, "/tmp/data");
    EXPECT_FALSE(options->sync);
    EXPECT_THAT(options->without_effect, IsEmpty());
}

TEST(EtcdFlags, HaveEtcdsDefaults) {
    const auto options = read({});
    ASSERT_TRUE(options.has_value());
    EXPECT_THAT(options->listen, ElementsAre(ListenAddress{"127.0.0.1", 2379}));
    EXPECT_EQ(options->data_dir, "default.etcd");
    EXPECT_TRUE(options->sync);
    EXPECT_EQ(read({"-name", "a"})->data_dir, "a.etcd");
}

TEST(EtcdFlags, WhatHasNoEffectIsTold) {
    EXPECT_THAT(read({"--auto-compaction-retention=5m"})->without_effect,
                ElementsAre("--auto-compaction-retention=5m"));
}

TEST(EtcdFlags, WhatIsWrongIsSaid) {
    for (const auto& [word, wrong] :
         {std::pair{"--listen-client-urls=https://127.0.0.1:1", "wants http://ADDRESS:PORT"},
          std::pair{"--listen-client-urls=unix://a", "wants http://ADDRESS:PORT"},
          std::pair{"--data-dir=", "--data-dir wants a directory"},
          std::pair{"--max-wals=a", "for flag -max-wals: parse error"},
          std::pair{"--what", "flag provided but not defined: -what"}}) {
        const auto options = read({word});
        ASSERT_FALSE(options.has_value()) << word;
        EXPECT_THAT(options.error().message(), HasSubstr(wrong));
    }
}

TEST(EtcdFlags, HelpSaysThatSyncsCanBeLeftOut) {
    EXPECT_THAT(etcd_help(), HasSubstr("\n  --unsafe-no-fsync "));
}

}  // namespace
}  // namespace muster::cli::etcd_flags_test
