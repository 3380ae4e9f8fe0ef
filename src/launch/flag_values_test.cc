#include "launch/flag_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

namespace muster::launch::flag_values_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

template <class T>
std::string refusal(const Result<T>& result) {
    return result ? "accepted" : result.error().message();
}

TEST(FlagValues, Nodes) {
    const auto read = [](const char* text) { return read_nodes({text, "--nnodes"}); };
    EXPECT_EQ(*read("4"), (NodeRange{4, 4}));
    EXPECT_EQ(*read("2:4"), (NodeRange{2, 4}));
    for (const char* bad : {"", "x", "2:", ":2", "1:2:3", "2-4", "1.5", "99999999999"})
        EXPECT_THAT(refusal(read(bad)), HasSubstr("expects N or MIN:MAX")) << bad;
    EXPECT_THAT(refusal(read("0")), HasSubstr("--nnodes 0: 0 is not a number of nodes"));
    EXPECT_THAT(refusal(read("-1")), HasSubstr("-1 is not a number of nodes"));
    EXPECT_THAT(refusal(read("3:2")), HasSubstr("--nnodes 3:2: at least 3 nodes but at most 2"));
    EXPECT_THAT(refusal(read_nodes({"3:2", "PET_NNODES"})), HasSubstr("PET_NNODES=3:2: at least"));
}

TEST(FlagValues, LocalSize) {
    struct Row {
        std::string text;
        Devices devices;
        int size;  ///< 0: refused
    };
    const Row kRows[] = {
        {"3", {8, 2, 0}, 3},    {"auto", {8, 2, 0}, 2}, {"auto", {8, 0, 4}, 4},
        {"auto", {8, 0, 0}, 8}, {"cpu", {8, 2, 0}, 8},  {"gpu", {8, 2, 0}, 2},
        {"gpu", {8, 0, 4}, 0},  {"xpu", {8, 0, 4}, 4},  {"xpu", {8, 2, 0}, 0},
        {"0", {8, 2, 0}, 0},    {"-1", {8, 2, 0}, 0},   {"tpu", {8, 2, 0}, 0},
    };
    for (const Row& row : kRows) {
        const auto size = read_local_size({row.text, "--nproc-per-node"}, row.devices);
        EXPECT_EQ(size ? *size : 0, row.size) << row.text;
        if (!size)
            EXPECT_THAT(size.error().message(),
                        HasSubstr("expects a number above 0, auto, cpu, gpu or xpu"));
    }
}

TEST(FlagValues, Lists) {
    EXPECT_THAT(*read_exit_codes({"3, 1,3", "--final-exit-codes"}), ElementsAre(1, 3));
    for (const char* bad : {"", "x", "256", "-1", "1,,2", ","})
        EXPECT_NE(refusal(read_exit_codes({bad, "--final-exit-codes"})), "accepted") << bad;
    EXPECT_THAT(*read_ranks({"0,2", "--local-ranks-filter"}), ElementsAre(0, 2));

    EXPECT_THAT(*read_error_texts({"#ECC error#NVLink#", "x"}), ElementsAre("ECC error", "NVLink"));
    EXPECT_THAT(*read_error_texts({"NVLink down, twice", "x"}), ElementsAre("NVLink down, twice"));
    for (const char* bad : {"#a", "a#b", "#", "##"})
        EXPECT_NE(refusal(read_error_texts({bad, "--bad-node-errors"})), "accepted") << bad;

    EXPECT_THAT(*read_signals({"SIGTERM,USR1,SIGTERM", "x"}), ElementsAre(SIGTERM, SIGUSR1));
    EXPECT_THAT(refusal(read_signals({"SIGFOO", "--signals-to-handle"})),
                HasSubstr("--signals-to-handle SIGFOO: \"SIGFOO\" is not a signal"));
    EXPECT_THAT(refusal(read_signals({"KILL", "x"})), HasSubstr("can't be forwarded"));
}

TEST(FlagValues, RendezvousConf) {
    const auto read = [](const char* text) { return read_rendezvous_conf({text, "--rdzv-conf"}); };
    const auto conf = read(
        "join_timeout=600, lastcall_timeout=60,pend_timeout=70,keep_alive_interval=2,node_unit=2,"
        "is_host=true,read_timeout=60");
    ASSERT_TRUE(conf) << conf.error().message();
    EXPECT_EQ(conf->join, 600s);
    EXPECT_EQ(conf->last_call, 60s);
    EXPECT_EQ(conf->pend, 70s);
    EXPECT_EQ(conf->silence, 6s) << "three times, as torch has it";
    EXPECT_EQ(conf->node_unit, 2);
    EXPECT_EQ(conf->is_host, true);
    ASSERT_EQ(conf->notices.size(), 1u);
    EXPECT_EQ(conf->notices[0].level, log::Level::kDebug);
    EXPECT_TRUE(read("")->notices.empty());
    EXPECT_EQ(read("is_host=True")->is_host, true) << "as Python writes it";
    EXPECT_EQ(read("is_host=NO")->is_host, false);

    const auto unknown = read("last_cal_timeout=3");
    ASSERT_TRUE(unknown);
    ASSERT_EQ(unknown->notices.size(), 1u);
    EXPECT_THAT(unknown->notices[0].text, HasSubstr("did you mean last_call_timeout?"));

    for (const char* bad : {"join_timeout", "=3", "join_timeout=", "join_timeout=1,,x=1",
                            "join_timeout=0", "join_timeout=x", "is_host=2", "store_type=file"})
        EXPECT_THAT(refusal(read(bad)), HasSubstr("--rdzv-conf ")) << bad;
}

}  // namespace
}  // namespace muster::launch::flag_values_test
