#include "checkpoint/commit/commit_ledger.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace muster::checkpoint {
namespace {

std::string name_of(const ImageFacts& facts) {
    return fmt::format("step {} of generation {}.{}", facts.step, facts.epoch, facts.generation);
}

Error differs(const ImageFacts& facts, std::string_view what, std::string_view one,
              std::string_view other) {
    return Error(Code::kConflict, fmt::format("{}: some ranks say that its {} is {}, and others {}",
                                              name_of(facts), what, one, other));
}

Result<void> check_same(const Manifest& save, const Manifest& part) {
    if (save.job != part.job) return differs(part.facts, "job", save.job, part.job);
    if (save.layout != part.layout)
        return differs(part.facts, "layout", describe(save.layout), describe(part.layout));
    if (save.format != part.format)
        return differs(part.facts, "format", checkpoint::name_of(save.format),
                       checkpoint::name_of(part.format));
    return {};
}

}  // namespace

Result<CommitLedger::Told> CommitLedger::told(Manifest part) {
    const Age age = age_of(part.facts);
    if (committed_ == age) return Told{.state = State::kCommitted};
    TRY(Save* const save, save_of(part));
    for (ManifestShard& shard : part.shards) TRY_VOID(put(*save, std::move(shard)));
    Manifest& manifest = save->manifest;
    if (manifest.data_position.empty()) manifest.data_position = std::move(part.data_position);
    manifest.made_unix_ms = std::max(manifest.made_unix_ms, part.made_unix_ms);
    if (!manifest.complete() && save->shards.size() == manifest.layout.shards)
        for (auto& [rank, shard] : save->shards) manifest.shards.push_back(shard);
    const bool complete = manifest.complete();
    return Told{.state = complete ? State::kComplete : State::kWaits,
                .superseded = drop([&](const Age& other, const Save& older) {
                    if (older.manifest.complete() || other == age) return false;
                    return complete ? other < age : saves_.size() > kMostSaves;
                })};
}

/// The save that it is of, which may be new.
Result<CommitLedger::Save*> CommitLedger::save_of(const Manifest& part) {
    const Age age = age_of(part.facts);
    if (const auto known = saves_.find(age); known != saves_.end()) {
        TRY_VOID(check_same(known->second.manifest, part));
        return &known->second;
    }
    const auto superseded = [&](const ImageFacts& newer, std::string_view why) {
        return Error(Code::kGone, fmt::format("{} is superseded: {} {}", name_of(part.facts),
                                              name_of(newer), why));
    };
    for (const auto& [other, save] : saves_) {
        if (other < age) continue;
        if (save.manifest.complete()) return superseded(save.manifest.facts, "is complete");
        if (saves_.size() >= kMostSaves)
            return superseded(save.manifest.facts, "and others wait for shards");
    }
    if (committed_ && *committed_ > age)
        return superseded({.epoch = std::get<0>(*committed_),
                           .generation = std::get<1>(*committed_),
                           .step = std::get<2>(*committed_)},
                          "is committed");
    Manifest manifest = part;
    manifest.shards.clear();
    return &saves_.emplace(age, Save{.manifest = std::move(manifest)}).first->second;
}

Result<void> CommitLedger::put(Save& save, ManifestShard shard) {
    const ImageFacts& facts = save.manifest.facts;
    const auto known = save.shards.find(shard.rank);
    if (known != save.shards.end() && known->second == shard) return {};
    if (save.shards.size() >= save.manifest.layout.shards)
        return Error(Code::kConflict,
                     fmt::format("{}: rank {} stored its shard when all {} were there",
                                 name_of(facts), shard.rank, save.shards.size()));
    for (const StoredShard& file : shard.files) {
        const auto [owner, added] = save.owners.emplace(file.path, shard.rank);
        if (!added && owner->second != shard.rank)
            return Error(Code::kConflict,
                         fmt::format("{}: ranks {} and {} both wrote the file {}", name_of(facts),
                                     owner->second, shard.rank, file.path));
    }
    save.shards.insert_or_assign(shard.rank, std::move(shard));
    return {};
}

/// From the oldest on.
template <class Which>
std::vector<ImageFacts> CommitLedger::drop(Which which) {
    std::vector<ImageFacts> dropped;
    for (auto save = saves_.begin(); save != saves_.end();) {
        if (!which(save->first, save->second)) {
            ++save;
            continue;
        }
        dropped.push_back(save->second.manifest.facts);
        save = saves_.erase(save);
    }
    return dropped;
}

std::vector<ImageFacts> CommitLedger::committed(const ImageFacts& facts) {
    const Age age = age_of(facts);
    if (!committed_ || *committed_ < age) committed_ = age;
    saves_.erase(age);
    return drop([&](const Age& other, const Save&) { return other < age; });
}

CommitLedger::State CommitLedger::state(const ImageFacts& facts) const {
    if (committed_ == age_of(facts)) return State::kCommitted;
    return complete(facts) == nullptr ? State::kWaits : State::kComplete;
}

const Manifest* CommitLedger::complete(const ImageFacts& facts) const {
    const auto save = saves_.find(age_of(facts));
    if (save == saves_.end() || !save->second.manifest.complete()) return nullptr;
    return &save->second.manifest;
}

std::string CommitLedger::waits_for() const {
    std::vector<std::string> waiting;
    for (const auto& [age, save] : saves_) {
        if (save.manifest.complete()) continue;
        constexpr std::size_t kMostShown = 8;
        std::vector<std::uint32_t> ranks;
        for (const auto& [rank, shard] : save.shards)
            if (ranks.size() < kMostShown) ranks.push_back(rank);
        waiting.push_back(fmt::format("{} has {} of {} shards, of rank {}{}",
                                      name_of(save.manifest.facts), save.shards.size(),
                                      save.manifest.layout.shards, fmt::join(ranks, ", "),
                                      save.shards.size() > kMostShown ? ", ..." : ""));
    }
    return fmt::format("{}", fmt::join(waiting, "; "));
}

}  // namespace muster::checkpoint
