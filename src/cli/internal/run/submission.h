#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/internal/run/console.h"
#include "kube/client/client.h"
#include "manifest/check.h"

namespace muster::cli {

/// A job or a pod, which runs; everything else of a manifest is what they use.
bool is_workload(const manifest::CheckedObject& object);

/// "PyTorchJob ml/digits".
std::string shown_name(const manifest::CheckedObject& object);

/// Whether `there` has every field of `wanted` with the same value; the server adds fields of its
/// own. Pure.
bool holds(const json::value& there, const json::value& wanted);

/// Gets the objects of a manifest onto an API server: all of them, or none. What the jobs use comes
/// before them; what is there already just as the manifest has it is used as it is, but no job is
/// ever taken over. Thread: the client's loop. All that it is given outlives it.
class Submission {
  public:
    /// `make_namespaces`: those that objects name are made; else they have to be there, unless the
    /// manifest has them. `stopped`: nothing further is to be posted.
    Submission(kube::Client& client, Console& console,
               const std::vector<manifest::CheckedObject>& objects, bool make_namespaces,
               std::function<bool()> stopped);

    /// A dry run of everything, so that a refusal of one object comes before any has started.
    /// Namespaces are made for it. False: problems() or failure() say why not.
    Task<bool> rehearse();
    /// Calls `posted` for each job and pod with its index and uid.
    Task<bool> post(std::function<void(std::size_t, std::string)> posted);
    /// Deletes what was made, and tells what could not be.
    Task<void> withdraw();

    /// What is wrong with the objects.
    const std::vector<manifest::Problem>& problems() const { return problems_; }
    /// What is wrong with the way to the server.
    const std::optional<Error>& failure() const { return failure_; }

  private:
    struct Made {
        kube::ResourceType type;
        std::string namespace_;
        std::string name;
        std::string uid;
    };

    Task<bool> post_namespaces();
    Task<Result<void>> post_namespace(json::value object, std::string name);
    Task<bool> post_all(bool dry_run, const std::function<void(std::size_t, std::string)>& posted);
    Task<bool> is_there(const manifest::CheckedObject& object);
    void refuse(const manifest::CheckedObject& object, const Error& error);

    kube::Client& client_;
    Console& console_;
    const std::vector<manifest::CheckedObject>& objects_;
    const bool make_namespaces_;
    std::function<bool()> stopped_;
    std::vector<Made> made_;
    std::set<std::string> used_;  ///< those that were there, as they are shown
    std::vector<manifest::Problem> problems_;
    std::optional<Error> failure_;
};

}  // namespace muster::cli
