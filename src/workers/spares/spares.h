#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "workers/spares/import_list.h"
#include "workers/spares/spare.h"
#include "workers/warm/verdict.h"
#include "workers/worker/job_directory.h"

namespace muster::workers {

/// What warm spares are made with (docs/design/warm.md).
struct SpareOptions {
    std::filesystem::path zygote = {};      ///< the file of that name
    std::vector<std::string> modules = {};  ///< to import before those that were imports
    std::filesystem::path imports = {};     ///< where the hook writes what workers import
    /// Spares are made when a worker has made its first step, as the hook writes what was imported
    /// then; or after this time. Imports would take processors from workers that start.
    Duration patience = std::chrono::seconds(10);
    /// After it a worker is started without the spare that does not answer. One that still imports
    /// is waited for: it has begun earlier than a cold start would.
    Duration answers = std::chrono::seconds(30);
};

/// What of LocalWorkers its spares need. The rest is as in a ShimOrder.
struct SpareSurroundings {
    std::filesystem::path directory = {};  ///< of the job,
    int directory_fd = -1;                 ///< open
    int shim_program = -1;
    std::string parent_group = {};  ///< of cgroups; empty: none
    std::uint64_t orphan_grace_ms = 0;
    /// Which streams of a local rank are the agent's own: output and error.
    std::function<std::pair<bool, bool>(int local_rank)> inherited;
    /// A spare was killed by this signal.
    std::function<void(int signal)> killed;
};

/// The warm spares of a node: one for each worker that runs, to take its place after a restart.
///
/// They live from one set of workers to the next. A spare that ends is replaced, a few times for a
/// set; a module that stands in the way is left out; where no spare could ever be warm there is
/// none. Why a worker starts cold is said once for each cause.
///
/// Owns the spares. Stop order: end(), then destroy. Thread: the loop.
class Spares {
  public:
    /// `changed` is that of the workers which spares become; it is notified of theirs, too.
    Spares(asio::any_io_executor executor, Clock& clock, Signal& changed, SpareOptions options,
           SpareSurroundings surroundings);

    const SpareOptions& options() const { return options_; }

    /// Workers run that were made by these; spares for the next ones are wanted.
    void want(std::vector<SpareRecipe> recipes);
    /// No new ones until then.
    void pause();

    /// The spare for such a worker, which stays ours until it is forgotten or dropped; null: there
    /// is none.
    Spare* take(const SpareRecipe& wanted);
    /// It was taken while it still imported, and its worker started cold: those after it do better.
    void learn_from(const Spare& spare);
    /// It was released as a worker.
    void forget(Spare* spare);
    /// It has not become one, and is ended.
    void drop(Spare* spare);
    /// A worker started cold.
    void say(const std::string& why);

    /// Those that are ready.
    int ready() const;
    /// Returns when no process of theirs is left.
    Task<void> end();

  private:
    /// Of one local rank.
    struct Place {
        SpareRecipe recipe;
        std::unique_ptr<Spare> spare = {};
        bool judged = false;
        int lost = 0;  ///< since the set began
        bool given_up = false;
    };

    Task<void> keep();
    Task<void> see_begin();
    Task<void> another_set(std::uint64_t set);
    void look();
    void look_at(Place& place);
    void judge_at(Place& place);
    bool keeps(Place& place, const SpareReady& ready);
    void lose_at(Place& place);
    bool knows_modules() const;
    Result<std::unique_ptr<Spare>> make(const SpareRecipe& recipe);
    /// What the spare shall import that was imports; empty: nothing was.
    Result<std::string> learnt_list() const;
    void retire(std::unique_ptr<Spare> spare);
    Task<void> end_one(Spare* spare);
    void remove_files(const Spare& spare) const;

    asio::any_io_executor executor_;
    Clock& clock_;
    SpareOptions options_;
    SpareSurroundings around_;
    Signal& changed_;
    ImportList learnt_;
    std::vector<Place> places_;
    std::vector<std::unique_ptr<Spare>> leaving_;  ///< taken or ended, and not gone yet
    std::set<std::string> excluded_;               ///< modules
    std::set<std::string> said_;
    std::uint64_t set_ = 0;
    bool running_ = false;  ///< a set of workers does
    bool begun_ = false;    ///< and is through its own imports
    TaskGroup tasks_;
};

}  // namespace muster::workers
