#include <sys/stat.h>

#include "workers/local/local_workers_fixture.h"
#include "workers/workers_contract_test.h"

namespace muster::workers::local_workers_contract_test {
namespace {

/// Real processes that do what a test says.
class LocalWorld {
  public:
    TestLoop& loop() { return fixture_.loop; }
    Clock& clock() { return fixture_.loop.clock; }
    Workers& workers() { return fixture_.workers(); }

    launch::WorkerStart worker(int local_rank, int rank, WorkerLife life) {
        launch::WorkerStart start = fixture_.shell(local_rank, script(rank, life));
        start.rank = rank;
        std::filesystem::remove(fixture_.root() / fmt::format("release-{}", rank));
        std::filesystem::remove(fixture_.root() / fmt::format("pid-{}", rank));
        if (life.held)
            EXPECT_EQ(::mkfifo((fixture_.root() / fmt::format("release-{}", rank)).c_str(), 0600),
                      0);
        return start;
    }
    launch::WorkerStart unstartable(int local_rank, int rank) {
        launch::WorkerStart start = fixture_.worker(local_rank, {"/no/such/program"});
        start.rank = rank;
        return start;
    }
    void release(int rank) {
        // Opens when the worker reads.
        std::ofstream(fixture_.root() / fmt::format("release-{}", rank)) << "go\n";
    }
    void settled(int rank) { fixture_.pid_in(fmt::format("pid-{}", rank)); }
    int alive() { return static_cast<int>(fixture_.processes().size()); }

  private:
    static std::string script(int rank, const WorkerLife& life) {
        std::string text;
        if (life.stubborn) text += "trap '' TERM\n";
        if (life.steps > 0)
            text += fmt::format(
                "printf '\\{:03o}\\0\\0\\0\\0\\0\\0\\0' | dd of=\"$MUSTER_PROGRESS\" conv=notrunc "
                "2>/dev/null\n",
                life.steps);
        text += fmt::format("echo $$ > $ROOT/new-{0}; mv $ROOT/new-{0} $ROOT/pid-{0}\n", rank);
        if (life.held) text += fmt::format("read x < $ROOT/release-{}\n", rank);
        switch (life.then) {
            case WorkerLife::Then::kRuns:
                return text + "while :; do sleep 1000 & wait $!; done\n";
            case WorkerLife::Then::kExits:
                return text + fmt::format("exit {}\n", life.exit_code);
            case WorkerLife::Then::kDies:
                return text + fmt::format("kill -{} $$\n", life.signal);
        }
        return text;
    }

    LocalWorkersFixture fixture_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Local, WorkersContract, LocalWorld);

}  // namespace
}  // namespace muster::workers::local_workers_contract_test
