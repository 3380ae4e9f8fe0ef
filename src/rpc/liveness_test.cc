#include "rpc/liveness.h"

#include <gtest/gtest.h>

namespace muster::rpc::liveness_test {
namespace {

using namespace std::chrono_literals;
using Act = Liveness::Act;

constexpr LivenessLimits kLimits{.dead_after = 5s, .ping_after = 1s};
const Instant kStart = Instant() + 1h;

TEST(Liveness, AClientSaysThatItIsThereAfterASilenceOfItsOwn) {
    Liveness client(kLimits, true, kStart);
    EXPECT_EQ(client.next(kStart, kStart).act, Act::kWait);
    EXPECT_EQ(client.next(kStart, kStart).until, kStart + 1s);
    client.said(kStart + 400ms);
    client.heard(kStart + 400ms);
    EXPECT_EQ(client.next(kStart + 1s, kStart + 1s).act, Act::kWait);
    EXPECT_EQ(client.next(kStart + 1s, kStart + 1s).until, kStart + 1400ms);
    EXPECT_EQ(client.next(kStart + 1400ms, kStart + 1400ms).act, Act::kPing);
    EXPECT_EQ(client.next(kStart + 1400ms, kStart + 1400ms).act, Act::kWait) << "once";
    EXPECT_EQ(client.next(kStart + 1400ms, kStart + 1400ms).until, kStart + 2400ms);
}

TEST(Liveness, AClientThatIsNotAnsweredAsksWhatIs) {
    Liveness client(kLimits, true, kStart);
    Instant now = kStart;
    int pings = 0;
    for (int i = 0; i < 50; ++i) {
        now += 200ms;
        client.said(now);  // Notes, which are not answered.
        if (client.next(now, now).act == Act::kPing) {
            ++pings;
            client.heard(now);
        }
    }
    EXPECT_EQ(pings, 10);
    EXPECT_EQ(client.next(now, now).act, Act::kWait) << "the server is there";
}

TEST(Liveness, AServerListensOnly) {
    Liveness server(kLimits, false, kStart);
    EXPECT_EQ(server.next(kStart, kStart).until, kStart + 5s);
    server.heard(kStart + 3s);
    EXPECT_EQ(server.next(kStart + 5s, kStart + 5s).act, Act::kWait);
    EXPECT_EQ(server.next(kStart + 5s, kStart + 5s).until, kStart + 8s);
    EXPECT_EQ(server.next(kStart + 8s, kStart + 8s).act, Act::kDead);
    EXPECT_EQ(server.silence(kStart + 8s), 5s);
}

TEST(Liveness, WhoPingsInVainGivesUp) {
    Liveness client(kLimits, true, kStart);
    Instant now = kStart;
    int pings = 0;
    for (;;) {
        const Liveness::Step step = client.next(now, now);
        if (step.act == Act::kDead) break;
        if (step.act == Act::kPing) ++pings;
        if (step.act == Act::kWait) now = step.until;
    }
    EXPECT_EQ(now, kStart + 5s);
    EXPECT_EQ(pings, 4);
}

TEST(Liveness, TimeInWhichThisSideDidNotRunIsNotTheOthersSilence) {
    Liveness server(kLimits, false, kStart);
    server.heard(kStart + 4s);
    EXPECT_EQ(server.next(kStart + 1h, kStart + 6s).act, Act::kWait);
    EXPECT_EQ(server.next(kStart + 1h, kStart + 1h).until, kStart + 1h + 5s);
    Liveness client(kLimits, true, kStart);
    EXPECT_EQ(client.next(kStart + 1h, kStart + 1s).act, Act::kPing);
    EXPECT_EQ(client.silence(kStart + 1h), 0s);
}

TEST(Liveness, BeingLateByALittleIsNoPause) {
    Liveness server(kLimits, false, kStart);
    EXPECT_EQ(server.next(kStart + 5s + 900ms, kStart + 5s).act, Act::kDead);
}

}  // namespace
}  // namespace muster::rpc::liveness_test
