#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "job_protocol/world.h"

namespace muster::job_protocol {

/// Whose keys they are.
struct KvSpace {
    /// Of the master that has them. They live as long as it does: what is asked of another is
    /// refused, so that no caller takes an empty store for the one that was filled.
    std::uint64_t epoch = 0;
    /// That the caller runs, with keys that end with it. Nothing: those of the job.
    std::optional<Generation> generation = {};

    friend bool operator==(const KvSpace&, const KvSpace&) = default;
};

struct SetKey {
    std::string key, value;
    friend bool operator==(const SetKey&, const SetKey&) = default;
};
/// KvAnswer::value; nothing: there is no such key.
struct GetKey {
    std::string key;
    friend bool operator==(const GetKey&, const GetKey&) = default;
};
/// KvAnswer::number is the sum. Values are decimal text, and a key that is missing has 0.
struct AddToKey {
    std::string key;
    std::int64_t amount = 0;
    friend bool operator==(const AddToKey&, const AddToKey&) = default;
};
/// KvAnswer::yes: it had what was expected, and has what is desired. In any case ::value is what
/// it has now.
struct CompareSetKey {
    std::string key;
    std::optional<std::string> expected;  ///< nothing: that there is no such key
    std::string desired;
    friend bool operator==(const CompareSetKey&, const CompareSetKey&) = default;
};
/// KvAnswer::yes: there was one.
struct DeleteKey {
    std::string key;
    friend bool operator==(const DeleteKey&, const DeleteKey&) = default;
};
/// Answered when all of them are there.
struct AwaitKeys {
    std::vector<std::string> keys;
    friend bool operator==(const AwaitKeys&, const AwaitKeys&) = default;
};
/// Answered when all members are at that barrier, which is then empty and may be entered again.
struct EnterBarrier {
    std::string name;
    friend bool operator==(const EnterBarrier&, const EnterBarrier&) = default;
};
/// The member has come to that point. KvAnswer::yes: all have.
struct JoinSyncPoint {
    std::string name;
    friend bool operator==(const JoinSyncPoint&, const JoinSyncPoint&) = default;
};
/// Answered when all members have joined it.
struct AwaitSyncPoint {
    std::string name;
    friend bool operator==(const AwaitSyncPoint&, const AwaitSyncPoint&) = default;
};

struct KvRequest {
    KvSpace space;
    std::variant<SetKey, GetKey, AddToKey, CompareSetKey, DeleteKey, AwaitKeys, EnterBarrier,
                 JoinSyncPoint, AwaitSyncPoint>
        what;

    friend bool operator==(const KvRequest&, const KvRequest&) = default;
};

struct KvAnswer {
    std::optional<std::string> value = {};
    std::int64_t number = 0;
    bool yes = false;

    friend bool operator==(const KvAnswer&, const KvAnswer&) = default;
};

}  // namespace muster::job_protocol
