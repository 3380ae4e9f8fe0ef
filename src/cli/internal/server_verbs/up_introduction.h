#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "cli/internal/verbs/options.h"
#include "control_plane/daemon/caller.h"
#include "control_plane/daemon/state_home.h"
#include "control_plane/kubeconfig.h"

namespace muster::cli {

/// Where clients look, and what a person has to know. All of it that can fail for a reason of the
/// person's is found out before pods are taken over.
class Introduction {
  public:
    static Result<Introduction> prepare(const UpOptions& options,
                                        const control_plane::Caller& caller,
                                        const control_plane::StateHome& home,
                                        const control_plane::KubeAccess& access);

    /// Writes the kubeconfigs. What to say.
    Result<std::string> write() const;

  private:
    std::filesystem::path own_;
    std::string own_text_;
    std::filesystem::path theirs_;  ///< empty: none
    std::string merged_;
    std::string server_;
    std::string pods_;        ///< where pods run; empty: there are none
    bool elsewhere_ = false;  ///< clients on other machines may come, at any address of this one
};

}  // namespace muster::cli
