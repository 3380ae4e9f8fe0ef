#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/internal/command_line/command_line.h"

namespace muster::cli {

/// Flags as written, before they are taken apart.
struct Raw {
    std::vector<std::string> more_files;  ///< of -f
    std::vector<std::string> sets;
    std::vector<std::string> replicas;
    std::vector<std::string> env;
    std::vector<std::string> mounts;
    std::string fit = "scale";
    std::string sandbox = "auto";
    std::string files = "shared";
    std::string files_limit;
    std::string context;
    std::string kubeconfig;
    std::vector<std::string> words;  ///< of explain: files, or a path of fields
    std::string to;
    std::string output;
    std::string timeout;
    std::string duration;
    std::string listen;
    std::string audit_level = "Metadata";
    std::uint64_t audit_log_maxsize = 100;  ///< MiB
    std::string for_;
    std::string signal = "KILL";
    std::string since;
    std::string cascade = "background";
    std::optional<std::int64_t> grace_period;
    bool ignore_not_found = false;
    bool no_headers = false;
    std::string image;
    std::int64_t installed_replicas = 2;
    bool without_admission_policy = false;
    std::string layout;
};

// Each puts what was written into the options of a verb, and says what is wrong with it.

std::optional<std::string> take_apart(const Raw& raw, ManifestOptions& options);
std::optional<std::string> take_apart(const Raw& raw, ValidateOptions& options);
std::optional<std::string> take_apart(const Raw& raw, ConvertOptions& options);
std::optional<std::string> take_apart(const Raw& raw, ExplainOptions& options);
std::optional<std::string> take_apart(const Raw& raw, UpOptions& options);
std::optional<std::string> take_apart(const Raw& raw, RunOptions& options);
std::optional<std::string> take_apart(const Raw& raw, SimulateOptions& options);
std::optional<std::string> take_apart(const Raw& raw, GetOptions& options);
std::optional<std::string> take_apart(const Raw& raw, DeleteOptions& options);
std::optional<std::string> take_apart(const Raw& raw, ApplyOptions& options);
std::optional<std::string> take_apart(const Raw& raw, WaitOptions& options);
std::optional<std::string> take_apart(const Raw& raw, LogsOptions& options);
std::optional<std::string> take_apart(const Raw& raw, DescribeOptions& options);
std::optional<std::string> take_apart(const Raw& raw, EventsOptions& options);
std::optional<std::string> take_apart(const Raw& raw, TopOptions& options);
std::optional<std::string> take_apart(const Raw& raw, ManifestsOptions& options);
std::optional<std::string> take_apart(const Raw& raw, CompletionOptions& options);
std::optional<std::string> take_apart(const Raw& raw, MigrateOptions& options);
std::optional<std::string> take_apart(const Raw& raw, FaultInjectionOptions& options);

}  // namespace muster::cli
