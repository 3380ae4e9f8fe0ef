#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "base/async/signal.h"
#include "base/async/task_group.h"
#include "master/memory_records.h"
#include "sim/elastic/invariants.h"

namespace muster::sim::elastic {

/// What a life of a master claims, as FileRecords has it.
struct RecordClaim {
    std::uint64_t first = 1;
    std::shared_ptr<const job_protocol::JobRecord> known = {};
};

/// A job's record as one life of its master has it; what is written is told to the invariants. What
/// was asked for is done also when who asked for it is killed before it knows.
class WatchedRecords final : public master::Records {
  public:
    /// All outlive this, and what it has begun. `number`: of Invariants::new_record().
    WatchedRecords(master::MemoryRecords& kept, Invariants& invariants, TaskGroup& tasks,
                   std::size_t number = 0, RecordClaim claim = {})
        : kept_(kept),
          truth_(invariants),
          tasks_(tasks),
          number_(number),
          claim_(std::move(claim)) {}

    Task<Result<job_protocol::JobRecord>> claim() override {
        return wait_for("claim", kept_.claim_from(claim_.first, claim_.known));
    }
    Task<Result<void>> write(job_protocol::JobRecord record) override {
        return wait_for("write", kept_.write(std::move(record)));
    }

  private:
    template <class T>
    struct Asked {
        explicit Asked(const asio::any_io_executor& executor) : answered(executor) {}
        std::optional<Result<T>> answer;
        Signal answered;
    };

    template <class T>
    Task<Result<T>> wait_for(const char* name, Task<Result<T>> work) {
        const auto asked = std::make_shared<Asked<T>>(tasks_.executor());
        tasks_.spawn(name, do_it(kept_, truth_, number_, std::move(work), asked));
        while (!asked->answer) co_await asked->answered.wait();
        co_return *std::move(asked->answer);
    }

    template <class T>
    static Task<void> do_it(master::MemoryRecords& kept, Invariants& truth, std::size_t number,
                            Task<Result<T>> work, std::shared_ptr<Asked<T>> asked) {
        asked->answer = co_await std::move(work);
        truth.recorded(kept.kept(), number);
        asked->answered.notify_all();
    }

    master::MemoryRecords& kept_;
    Invariants& truth_;
    TaskGroup& tasks_;
    std::size_t number_;
    RecordClaim claim_;
};

}  // namespace muster::sim::elastic
