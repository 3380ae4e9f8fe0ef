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

/// Whether it is a job or a pod, which runs; all other objects of a manifest are used by these.
bool is_workload(const manifest::CheckedObject& object);

/// "PyTorchJob ml/digits".
std::string shown_name(const manifest::CheckedObject& object);

/// Whether `there` has every field of `wanted` with the same value; the server adds fields of its
/// own. Pure.
bool holds(const json::value& there, const json::value& wanted);

/// Posts the objects of a manifest to an API server: all of them, or none. Objects that the jobs
/// use come before them. An existing object that is just as in the manifest is used as it is, but
/// an existing job never is. Thread: the client's loop. All arguments outlive it.
class Submission {
  public:
    /// `make_namespaces`: namespaces that objects name are created; otherwise they must exist, or
    /// be in the manifest. `stopped`: nothing more is to be posted.
    Submission(kube::Client& client, Console& console,
               const std::vector<manifest::CheckedObject>& objects, bool make_namespaces,
               std::function<bool()> stopped);

    /// A dry run of everything, so that the refusal of one object comes before any has started.
    /// Creates namespaces for it. False: problems() or failure() say why.
    Task<bool> rehearse();
    /// Calls `posted` for each job and pod with its index and uid.
    Task<bool> post(std::function<void(std::size_t, std::string)> posted);
    /// Deletes what was created, and reports what could not be deleted.
    Task<void> withdraw();

    /// What is wrong with the objects.
    const std::vector<manifest::Problem>& problems() const { return problems_; }
    /// What is wrong with the connection to the server.
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
    std::set<std::string> used_;  ///< names of those that existed
    std::vector<manifest::Problem> problems_;
    std::optional<Error> failure_;
};

}  // namespace muster::cli
