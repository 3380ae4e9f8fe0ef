#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"

namespace muster::workers {

/// The flags and variables about a worker's output, as given; empty if not given.
struct LogFlags {
    std::string log_dir = {};             ///< --log-dir
    std::string redirects = {};           ///< --redirects: "3", "0:1,1:2"
    std::string tee = {};                 ///< --tee; same syntax
    std::string local_ranks_filter = {};  ///< --local-ranks-filter: "0,2"
    /// --duplicate-stdout-filters, --duplicate-stderr-filters: "loss,epoch", ",," for a comma
    std::string out_filters = {};
    std::string error_filters = {};
    std::string max_bytes = {};    ///< --log-max-size: "100Mi"
    std::string max_files = {};    ///< --log-max-files: "5"
    std::string line_prefix = {};  ///< TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE
};

/// Where the output of one worker goes.
struct StreamPlan {
    bool file = false;
    /// Whether lines with one of the plan's texts also go to a file shared by all workers.
    bool filtered = false;
    enum class Console : std::uint8_t { kNo, kPrefixed, kDirect } console = Console::kDirect;

    friend bool operator==(const StreamPlan&, const StreamPlan&) = default;
};
struct RankLogPlan {
    StreamPlan out = {};
    StreamPlan error = {};

    friend bool operator==(const RankLogPlan&, const RankLogPlan&) = default;
};

/// The values for the macros in a prefix.
struct LineAuthor {
    std::string role = {};
    int rank = 0;
    int local_rank = 0;
};

/// What a node's workers do with their output: the meaning of torchrun's flags (upstream:
/// torch/distributed/elastic/multiprocessing/api.py, Std and DefaultLogsSpecs), decided once. A
/// value.
class LogPlan {
  public:
    /// kInvalid, naming the flag.
    static Result<LogPlan> parse(const LogFlags& flags);

    /// --tee adds a file to the console; a rank that is filtered out shows nothing on the console.
    RankLogPlan of(int local_rank) const;
    /// The texts that select lines of a stream; empty if it has no filter.
    const std::vector<std::string>& out_texts() const { return out_texts_; }
    const std::vector<std::string>& error_texts() const { return error_texts_; }
    /// Notes for people: what was asked for but has no effect, and why.
    std::vector<std::string> notes() const;
    /// The prefix of each line on the console: "[default0]:" unless the template says otherwise.
    std::string prefix(const LineAuthor& author) const;
    /// Whether any worker's output goes to a file.
    bool wants_files() const;

    /// nullopt if none was given. Never "/dev/null", which turns files off.
    const std::optional<std::filesystem::path>& directory() const { return directory_; }
    bool no_files() const { return no_files_; }
    std::uint64_t max_bytes() const { return max_bytes_; }  ///< 0: no limit
    /// per stream, including the current one
    std::uint32_t max_files() const { return max_files_; }

  private:
    /// 1 stdout, 2 stderr, 3 both: for all workers, or for the ranks listed.
    struct Streams {
        int all = 0;
        std::map<int, int> ranks = {};
        int of(int local_rank) const;
        /// Whether any rank has one of these streams.
        bool any(int streams = 3) const;
    };
    static Result<Streams> parse_streams(const std::string& flag, const std::string& text);

    std::optional<std::filesystem::path> directory_;
    bool no_files_ = false;
    Streams redirects_;
    Streams tee_;
    std::set<int> shown_;  ///< empty: all
    std::vector<std::string> out_texts_;
    std::vector<std::string> error_texts_;
    std::string line_prefix_;
    std::uint64_t max_bytes_ = 0;
    std::uint32_t max_files_ = 5;
};

/// The name of an attempt's directory within that of the run.
std::string attempt_directory(int restarts);
/// The run's name, reduced to what may be the name of a directory.
std::string directory_name(const std::string& run_id);

}  // namespace muster::workers
