#pragma once

#include <cstdint>
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

/// How warm spares are made (docs/design/warm.md).
struct SpareOptions {
    std::filesystem::path zygote = {};  ///< the file of the zygote program
    /// to import before those that earlier workers imported
    std::vector<std::string> modules = {};
    std::filesystem::path imports = {};  ///< the file to which the hook writes what workers import
    /// A spare is made when a worker has made its first step, because the hook then writes what was
    /// imported; or after this time. Earlier, its imports would take CPU time from workers that
    /// start.
    Duration patience = std::chrono::seconds(10);
    /// How long to wait for a spare to answer before its worker starts without it. A spare that
    /// still imports is waited for: it began earlier than a cold start would.
    Duration answers = std::chrono::seconds(30);
};

/// What the spares need to know of LocalWorkers. As in ShimOrder unless noted.
struct SpareSurroundings {
    std::filesystem::path directory = {};  ///< the job's directory,
    int directory_fd = -1;                 ///< and its open descriptor
    int shim_program = -1;
    int input = -1;                 ///< standard input of local rank 0; -1: none
    std::string parent_group = {};  ///< parent of the spares' cgroups; empty: none
    std::uint64_t orphan_grace_ms = 0;
    std::string keep = {};                         ///< as in ShimOrder
    std::optional<std::uint64_t> core_bytes = {};  ///< as in ShimOrder
    /// Whether stdout and stderr of a local rank are the agent's own.
    std::function<std::pair<bool, bool>(int local_rank)> inherited;
    /// Called with the signal that killed a spare.
    std::function<void(int signal)> killed;
};

/// The warm spares of a node: one for each running worker, to take its place after a restart.
///
/// They outlive a set of workers and serve the next one. A spare that ends is replaced, a few times
/// per set; a module that prevents warm starts is left out; if no spare can ever be warm, none is
/// made. Each reason for a cold start is logged once.
///
/// Owns the spares. Stop order: end(), then destroy. Thread: the loop.
class Spares {
  public:
    /// `changed` is notified of each step of a spare, and later of the worker that it became.
    Spares(asio::any_io_executor executor, Clock& clock, Signal& changed, SpareOptions options,
           SpareSurroundings surroundings);

    const SpareOptions& options() const { return options_; }

    /// Workers of these recipes are running; make spares for their successors.
    void want(std::vector<SpareRecipe> recipes);
    /// Makes no spares until the next want().
    void pause();

    /// The spare for such a worker, which remains ours until forget() or drop(); null if there is
    /// none.
    Spare* take(const SpareRecipe& wanted);
    /// A spare was taken while it still imported and its worker started cold: improve the next
    /// ones.
    void learn_from(const Spare& spare);
    /// The spare was released as a worker.
    void forget(Spare* spare);
    /// The spare did not become a worker: end it.
    void drop(Spare* spare);
    /// A worker started cold: log why.
    void say(const std::string& why);

    /// How many have finished their imports.
    int ready() const;
    /// Ends all spares. Returns when no process of theirs is left.
    Task<void> end();

  private:
    /// The spares of one local rank.
    struct Place {
        SpareRecipe recipe;
        std::unique_ptr<Spare> spare = {};
        bool judged = false;
        int lost = 0;  ///< spares lost since the set began
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
    /// The learnt modules that the spare is to import; empty if none are known.
    Result<std::string> import_list() const;
    void retire(std::unique_ptr<Spare> spare);
    Task<void> end_one(Spare* spare);
    void remove_files(const Spare& spare) const;

    asio::any_io_executor executor_;
    Clock& clock_;
    SpareOptions options_;
    SpareSurroundings around_;
    Signal& changed_;
    ImportList import_list_;
    std::vector<Place> places_;
    std::vector<std::unique_ptr<Spare>> leaving_;  ///< taken or ended, and not yet gone
    std::set<std::string> excluded_;               ///< modules
    std::set<std::string> said_;
    std::uint64_t set_ = 0;
    bool running_ = false;  ///< a set of workers runs
    bool begun_ = false;    ///< and has finished its own imports
    TaskGroup tasks_;
};

}  // namespace muster::workers
