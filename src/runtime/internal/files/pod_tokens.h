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

/// How long a token of such a life is used before another is asked for: four fifths of it, and a
/// day at the most, as by a kubelet.
Duration use_of_token(Duration life);

/// The tokens that a pod's volumes want of its service account, bound to the pod. Thread: the loop.
class PodTokens {
  public:
    PodTokens(kube::Client& client, Clock& clock) : client_(client), clock_(clock) {}

    /// Asks the API for those that are missing or due. What there was stays when that fails.
    Task<Result<void>> fetch(std::shared_ptr<const kube::Pod> pod);

    std::map<TokenWanted, std::string> texts() const;
    /// When to fetch again; nullopt while there is none.
    std::optional<Instant> due() const;

  private:
    struct Token {
        std::string text;
        Instant due;
    };
    Task<Result<Token>> ask(std::shared_ptr<const kube::Pod> pod, TokenWanted wanted);

    kube::Client& client_;
    Clock& clock_;
    std::map<TokenWanted, Token> tokens_;
};

}  // namespace muster::runtime
