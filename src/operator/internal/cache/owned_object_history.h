#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "operator/internal/cache/owned_objects.h"
#include "operator/internal/cache/replica_totals.h"

namespace muster::operators {

/// What others did to a job's owned objects, so that these are made and corrected again after pauses: who deletes or
/// changes them as soon as they are there would have them made again without end.
class OwnedObjectHistory {
  public:
    /// An object that we corrected, for the last time to this content. What the job itself comes to want is no
    /// correction.
    struct Correction {
        FormerObject former;
        std::size_t content = 0;  ///< a hash of it

        friend bool operator==(const Correction&, const Correction&) = default;
    };
    using Former = std::map<OwnedObjectId, FormerObject>;
    using Corrections = std::map<OwnedObjectId, Correction>;

    void came(const OwnedObjectId& id);
    void left(const OwnedObjectRecord& object);
    /// We delete this one.
    void delete_sent(const std::string& uid) { our_own_.insert(uid); }
    void delete_failed(const std::string& uid) { our_own_.erase(uid); }
    /// `in_a_row`: the corrections to the same content before this one that followed each other soon.
    void corrected(const OwnedObjectId& id, std::size_t content, std::int32_t in_a_row,
                   WallTime now);

    /// Those that someone else has deleted, and that are not there again.
    const Former& former() const { return former_; }
    const Corrections& corrections() const { return corrections_; }
    /// True the first time after that object went or was corrected.
    bool pause_to_be_told(const OwnedObjectId& id) { return told_.insert(id).second; }

    /// A user who resumes a job does not want to wait.
    void end_pauses();

  private:
    Former former_;
    Corrections corrections_;
    std::set<OwnedObjectId> told_;   ///< whose pause has been told
    std::set<std::string> our_own_;  ///< uids of what we delete
};

}  // namespace muster::operators
