#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/async/async.h"
#include "base/result.h"
#include "base/time/clock.h"
#include "kube/client/client.h"

namespace muster::runtime {

/// A pod with logs in a directory that outlives it (NodeOptions::logs_dir), whether the pod still
/// exists or not.
struct RetainedPod {
    std::string namespace_;
    std::string name;
    std::string uid;
    std::string owner_uid;  ///< of its controller; may be empty
    std::map<std::string, std::string> labels;
    std::vector<std::string> containers;  ///< without init containers, in the pod's order
    std::filesystem::path directory;      ///< one for each container in it
    WallTime written;                     ///< when anything was last written
    std::uint64_t bytes = 0;
};

/// How long logs are kept.
struct RetentionLimits {
    std::chrono::seconds age = std::chrono::days(7);
    std::uint64_t bytes = std::uint64_t{1} << 30;  ///< for all together
};

/// The pods of a namespace (empty: all) that have logs. Those that can't be read are left out.
std::vector<RetainedPod> list_retained_logs(const std::filesystem::path& logs_dir,
                                            const std::string& namespace_ = {});

/// Which of them to remove: those too old, and the oldest until the others fit. `alive`: uids of
/// existing pods, whose logs stay and count. Pure.
std::vector<RetainedPod> logs_over_limits(std::vector<RetainedPod> kept,
                                          const std::set<std::string>& alive,
                                          RetentionLimits limits, WallTime now);

/// The instances of the container that have a retained log, oldest first: 0 is the one that the pod
/// started first.
std::vector<int> retained_instances(const RetainedPod& pod, const std::string& container);

/// The log of one of them: raw text with the options applied, of which `follow` and `previous` have
/// no effect. kNotFound if there is none.
Result<std::unique_ptr<kube::TextStream>> open_retained_log(asio::any_io_executor executor,
                                                            const RetainedPod& pod, int instance,
                                                            kube::LogOptions options, WallTime now);

/// Reads retained logs that a node of another process still writes. Thread: the loop of its executor.
class RetainedLogFollower {
  public:
    static Result<std::unique_ptr<RetainedLogFollower>> create(asio::any_io_executor executor);
    ~RetainedLogFollower();

    /// The log of an instance, which continues until end() was called for it. As
    /// open_retained_log().
    Result<std::unique_ptr<kube::TextStream>> open(const RetainedPod& pod, int instance,
                                                   kube::LogOptions options, WallTime now);
    /// Nothing more comes of that instance of a container.
    void end(const std::string& pod_uid, const std::string& container, int instance);
    void end_all();
    /// One at a time; runs until it is cancelled.
    Task<void> run();

  private:
    struct State;
    explicit RetainedLogFollower(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace muster::runtime
