#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time/clock.h"
#include "launch/flags.h"

namespace muster::launch {

// Parses the values of single flags. Errors are kInvalid and name the flag or the variable.

struct NodeRange {
    int least = 1;
    int most = 1;

    friend bool operator==(const NodeRange&, const NodeRange&) = default;
};
/// "4", "2:4".
Result<NodeRange> read_nodes(const Given& given);

/// The devices of this machine that workers can use.
struct Devices {
    int cpus = 1;  ///< available to this process
    int gpus = 0;  ///< visible to this process
    int xpus = 0;
};
/// "2", "auto", "cpu", "gpu", "xpu".
Result<int> read_local_size(const Given& given, const Devices& devices);

/// "1,3"; 0 to 255, the range of exit codes.
Result<std::set<int>> read_exit_codes(const Given& given);

/// "#ECC error#NVLink#", or one text without '#'.
Result<std::vector<std::string>> read_error_texts(const Given& given);

/// "SIGTERM,SIGUSR1", with or without "SIG". SIGKILL and SIGSTOP are rejected: they can't be
/// caught.
Result<std::vector<int>> read_signals(const Given& given);

/// "0,2".
Result<std::set<int>> read_ranks(const Given& given);

Result<Duration> read_seconds(const Given& given);
/// Only after the value was checked for the flag's kind.
int read_count(const Given& given);

/// The content of --rdzv-conf, by the keys of torch's dynamic and static rendezvous
/// (elastic/rendezvous/dynamic_rendezvous.py, c10d_rendezvous_backend.py) and of DLRover's.
struct RendezvousConf {
    std::optional<Duration> join = {};       ///< join_timeout, timeout
    std::optional<Duration> last_call = {};  ///< last_call_timeout, lastcall_timeout
    std::optional<Duration> pend = {};       ///< pend_timeout
    std::optional<Duration> silence = {};    ///< keep_alive_interval * keep_alive_max_attempt
    std::optional<int> node_unit = {};
    std::optional<bool> is_host = {};
    std::vector<LaunchNotice> notices = {};  ///< keys without effect, and unknown keys
};
/// "join_timeout=600,is_host=1". An unknown key is a notice with the nearest known one, not an
/// error: torch accepts any key.
Result<RendezvousConf> read_rendezvous_conf(const Given& given);

}  // namespace muster::launch
