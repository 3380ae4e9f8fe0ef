#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/objects/pod.h"
#include "runtime/internal/network/hosts_files.h"

namespace muster::runtime {

/// The pod's own files on the machine.
struct PodDirectories {
    std::filesystem::path hosts;     ///< file
    std::filesystem::path hostname;  ///< file
    std::filesystem::path tmp;
    std::filesystem::path scratch;
    std::filesystem::path termination_log;   ///< file
    std::filesystem::path resolv_conf = {};  ///< file; empty if the pod has none of its own
};

/// The host name of the pod's processes: at most 63 characters, as the kernel takes no more than
/// 64.
std::string hostname_of(const kube::Pod& pod);

/// The name of the init's socket in the pod's directory, and of the directory with those of all
/// pods.
inline constexpr const char* kSocketName = "init";
inline constexpr const char* kPodsName = "pods";

/// Identifies the pod of a directory.
struct PodName {
    std::string namespace_;
    std::string name;
    std::string uid;
};
std::optional<PodName> pod_of_directory(std::string_view directory_name);

/// The files of one pod on the machine: volumes, /etc/hosts and /etc/hostname, files of each
/// container, and the logs. Removed with this object, except for retained logs. Thread: the loop.
class PodFiles {
  public:
    /// `logs_dir`: where logs outlive their pods; empty if they do not.
    PodFiles(HostsFiles& hosts, const std::filesystem::path& state_dir,
             std::filesystem::path logs_dir, const kube::Pod& pod);
    ~PodFiles();
    PodFiles(const PodFiles&) = delete;
    PodFiles& operator=(const PodFiles&) = delete;

    /// Makes everything but the volumes' content. May be called again: files that the containers
    /// wrote stay, the volumes start empty.
    Result<void> make(const kube::Pod& pod);

    /// Makes the directories of a container that was added later.
    Result<void> make_container(const std::string& name);

    /// Used instead for a running pod: everything exists already, and stays as it is.
    Result<void> take_over(const kube::Pod& pod);

    const std::filesystem::path& directory() const { return directory_; }
    std::filesystem::path volumes() const { return directory_ / "volumes"; }
    /// From now on the containers have an /etc/resolv.conf of the pod's own.
    Result<void> write_resolv_conf(std::string_view text);
    /// The socket of the init of a pod that outlives us.
    std::filesystem::path socket() const { return directory_ / kSocketName; }
    /// Where the pod's view of the machine's files is assembled.
    std::filesystem::path view() const { return directory_ / "view"; }
    PodDirectories of_container(const std::string& name) const;
    /// Makes an empty file for the termination message of a new instance, writable by anyone.
    Result<void> begin_termination_log(const std::string& container) const;
    /// `run` counts from 0.
    std::filesystem::path log(const std::string& container, int run) const;

  private:
    Error failure_to_make(const std::error_code& error) const;

    HostsFiles& hosts_;
    std::string uid_;
    std::filesystem::path hosts_file_;  ///< set once it is made
    std::filesystem::path directory_;
    std::filesystem::path logs_dir_;     ///< of all pods; empty if none are retained
    std::filesystem::path logs_;         ///< of this pod
    std::filesystem::path resolv_conf_;  ///< empty if the pod has none of its own
};

}  // namespace muster::runtime
