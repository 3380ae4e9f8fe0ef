#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "checkpoint/commit/manifest.h"

namespace muster::checkpoint {

/// The decision when shards that ranks have stored are a checkpoint. For one root. Pure.
///
/// Shards may be told in any order and again: who told them does not know whether they were heard. An epoch, a generation and a
/// step together are a save, and the later save is the newer one.
class CommitLedger {
  public:
    /// More saves than this are not waited for at once.
    static constexpr std::size_t kMostSaves = 16;

    enum class State : std::uint8_t {
        kWaits,      ///< shards are missing
        kComplete,   ///< it is to be committed
        kCommitted,  ///< it is a checkpoint
    };
    struct Told {
        State state = State::kWaits;
        /// Older ones, which lack shards, and will not become checkpoints.
        std::vector<ImageFacts> superseded = {};
    };
    /// Some of a save's shards are on the disk. `part`: as decode_manifest() gives it. kGone: a newer save is complete, or
    /// is waited for while too many are; kConflict, with both: ranks of one save differ in job, layout or format, have a file of
    /// one name, or are more than the layout has, or a shard is another one after the save was complete.
    Result<Told> told(Manifest part);

    /// It is a checkpoint now. Returns those before it that are not, and will not become one.
    std::vector<ImageFacts> committed(const ImageFacts& facts);

    /// kWaits also where nothing is known of it.
    State state(const ImageFacts& facts) const;
    /// Of a save that is complete.
    const Manifest* complete(const ImageFacts& facts) const;
    /// For people: which save waits for how many shards, and which ranks have told theirs; empty: none waits.
    std::string waits_for() const;

  private:
    /// The later save is the greater one.
    using Age = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;
    static Age age_of(const ImageFacts& facts) {
        return {facts.epoch, facts.generation, facts.step};
    }
    /// A save that is not committed yet.
    struct Save {
        Manifest manifest;                                   ///< its shards are there once all are
        std::map<std::uint32_t, ManifestShard> shards = {};  ///< by rank, until then
        std::map<std::string, std::uint32_t> owners = {};    ///< the rank of each file
    };
    Result<Save*> save_of(const Manifest& part);
    static Result<void> put(Save& save, ManifestShard shard);
    template <class Which>
    std::vector<ImageFacts> drop(Which which);

    std::map<Age, Save> saves_ = {};
    std::optional<Age> committed_ = {};  ///< the newest
};

}  // namespace muster::checkpoint
