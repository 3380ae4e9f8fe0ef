#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/internal/connect/server_options.h"
#include "cli/internal/objects/output_format.h"
#include "cli/internal/prepare/manifest_options.h"
#include "cli/internal/script/script_flags.h"
#include "runtime/node.h"

namespace muster::cli {

struct RunOptions {
    ManifestOptions manifest;
    ScriptOptions script;  ///< what is run without a manifest
    /// The cluster to run on; unset: this machine. The namespace is one of the manifest's
    /// adjustments.
    std::optional<ServerOptions> cluster;
    bool on_up =
        false;  ///< it is this user's `muster up`, whose pods see the files of this machine
    std::string logs_dir;
    OutputFormat output = OutputFormat::kNone;
    bool keep = false;
    std::vector<std::string> command;  ///< the words of the line, after "muster"
    bool detach = false;               ///< it continues without the terminal
    bool no_record = false;            ///< nothing is kept of it
    std::string notify;                ///< a URL or a command for its end; empty: none
    bool dry_run = false;
    std::optional<std::chrono::nanoseconds> timeout;
    int give_up_after = 3;  ///< equal failures in a row; 0: never
    bool quiet = false;
    bool raw = false;  ///< a terminal gets pods' lines as they are
    int verbose = 0;
    runtime::SandboxMode sandbox = runtime::SandboxMode::kAuto;
    bool private_files = false;
    std::uint64_t files_bytes = std::uint64_t{1} << 30;  ///< memory for each pod's writes
    bool elastic = false;                                ///< an agent before each replica's command
    bool warm = false;  ///< with spares that have imported modules already
};

}  // namespace muster::cli
