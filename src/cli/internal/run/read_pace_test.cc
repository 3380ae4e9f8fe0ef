#include "cli/internal/run/read_pace.h"

#include <gtest/gtest.h>

namespace muster::cli::read_pace_test {
namespace {

using namespace std::chrono_literals;

Instant at(Duration since) { return Instant(1h + since); }

TEST(ReadPace, FewLinesAreNotHeldUp) {
    ReadPace pace;
    for (int read = 0; read < 100; ++read)
        EXPECT_EQ(pace.next_read(at(read * 10ms)), at(read * 10ms)) << read;
}

TEST(ReadPace, ManyLinesWaitForTheNextSlot) {
    ReadPace pace;
    for (int read = 0; read < ReadPace::kReads; ++read) {
        EXPECT_EQ(pace.next_read(at(read * 1ms)), at(read * 1ms));
    }
    EXPECT_EQ(pace.next_read(at(20ms)), at(100ms));
    EXPECT_EQ(pace.next_read(at(99ms)), at(100ms));
}

TEST(ReadPace, ManyLogsAreReadOnceInASlotEach) {
    ReadPace pace;
    for (int log = 0; log < 64; ++log) pace.next_read(at(50ms));
    for (int slot = 1; slot < 5; ++slot)
        for (int log = 0; log < 64; ++log)
            EXPECT_EQ(pace.next_read(at(slot * 100ms)), at((slot + 1) * 100ms));
}

TEST(ReadPace, AfterAQuietSlotALineIsReadAtOnce) {
    ReadPace pace;
    for (int log = 0; log < 64; ++log) pace.next_read(at(50ms));
    EXPECT_EQ(pace.next_read(at(250ms)), at(250ms));
}

}  // namespace
}  // namespace muster::cli::read_pace_test
