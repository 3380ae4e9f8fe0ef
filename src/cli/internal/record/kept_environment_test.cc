#include "cli/internal/record/kept_environment.h"

#include <gtest/gtest.h>

#include "cli/internal/record/packages.h"

namespace muster::cli::kept_environment_test {
namespace {

TEST(KeptEnvironment, NamesThatSayThatTheirValueIsSecret) {
    for (const char* name :
         {"API_KEY", "HF_TOKEN", "hf_token", "AWS_SECRET_ACCESS_KEY", "PGPASSWORD", "DB_PASS",
          "MYSQL_PWD", "WANDB_API_KEY", "GITHUB_PAT", "SLACK_WEBHOOK", "BASIC_AUTH", "MYTOKEN",
          "client_secret", "SENTRY_DSN"})
        EXPECT_TRUE(names_a_secret(name)) << name;
    for (const char* name :
         {"PATH", "HOME", "PWD", "OLDPWD", "SSH_AUTH_SOCK", "KEYBOARD", "AUTHOR",
          "TOKENIZERS_PARALLELISM", "MONKEY", "PASSIVE", "CUDA_VISIBLE_DEVICES", ""})
        EXPECT_FALSE(names_a_secret(name)) << name;
}

TEST(KeptEnvironment, ALineForEachVariable) {
    EXPECT_EQ(kept_environment({"B=2", "A=1=1", "ODD", "EMPTY=", "TOKEN=x", "LINES=a\nB=\"b\"",
                                "URL=https://me:pw@host/x", "PLAIN_URL=https://host/a@b:c",
                                "USER_URL=ssh://me@host"}),
              "A=1=1\n"
              "B=2\n"
              "EMPTY=\n"
              "LINES=\"a\\nB=\\\"b\\\"\"\n"
              "PLAIN_URL=https://host/a@b:c\n"
              "TOKEN=(not kept: it looks secret)\n"
              "URL=(not kept: it looks secret)\n"
              "USER_URL=ssh://me@host\n");
    EXPECT_EQ(kept_environment({}), "");
}

TEST(Packages, NamesOfDirectories) {
    EXPECT_EQ(package_of_entry("numpy-1.26.4.dist-info"), "numpy 1.26.4");
    EXPECT_EQ(package_of_entry("zope.interface-5.5.2.egg-info"), "zope.interface 5.5.2");
    EXPECT_EQ(package_of_entry("six-1.16.0-py3.11.egg-info"), "six 1.16.0");
    EXPECT_EQ(package_of_entry("torch.egg-info"), "torch");
    for (const char* name : {"numpy", "numpy-1.26.4", ".dist-info.txt", ""})
        EXPECT_EQ(package_of_entry(name), "") << name;
}

}  // namespace
}  // namespace muster::cli::kept_environment_test
