#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/async/async.h"
#include "base/time/clock.h"
#include "kube/client/client.h"
#include "kube/objects/pod.h"
#include "runtime/internal/files/volume_files.h"

namespace muster::runtime {

/// How long a token of that lifetime is used before another is requested: four fifths of it, at
/// most a day, as in a kubelet.
Duration use_of_token(Duration life);

/// The tokens of its service account for a pod's volumes, bound to the pod. Thread: the loop.
class PodTokens {
  public:
    PodTokens(kube::Client& client, Clock& clock) : client_(client), clock_(clock) {}

    /// Requests the tokens that are missing or due. If that fails, the present ones stay.
    Task<Result<void>> fetch(std::shared_ptr<const kube::Pod> pod);

    std::map<TokenWanted, std::string> texts() const;
    /// When to fetch again, by the calendar, as tokens expire by it: a suspended machine's monotonic
    /// clock stands still. nullopt if there are no tokens.
    std::optional<WallTime> due() const;
    /// Whether one has to be renewed now: because of its age, or because the calendar was set back
    /// to before it was granted, when it is not valid yet.
    bool is_due() const;

  private:
    struct Token {
        bool is_due(WallTime now) const { return now >= due || now < granted; }

        std::string text;
        WallTime granted;
        WallTime due;
    };
    Task<Result<Token>> ask(std::shared_ptr<const kube::Pod> pod, TokenWanted wanted);

    kube::Client& client_;
    Clock& clock_;
    std::map<TokenWanted, Token> tokens_;
};

}  // namespace muster::runtime
