#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/internal/connect/server_options.h"
#include "cli/internal/flags/flags.h"
#include "cli/internal/objects/object_options.h"
#include "cli/internal/objects/output_format.h"
#include "cli/internal/prepare/manifest_options.h"
#include "kube/objects/entrypoints.h"
#include "runtime/node.h"

namespace muster::cli {

// Flags that several verbs share. Functions that parse a text return what is wrong with it.

void declare_server_flags(Flags& flags, ServerOptions& options);
void declare_object_flags(Flags& flags, ObjectOptions& options);
void declare_state_flag(Flags& flags, std::string& directory);

/// The flags that change a manifest before it is looked at.
class AdjustmentFlags {
  public:
    void declare(Flags& flags, manifest::Adjustments& adjustments);
    std::optional<std::string> finish(manifest::Adjustments& adjustments) const;
    /// As they were written, for a command that does the same again: "--set", "a=b".
    std::vector<std::string> words(const manifest::Adjustments& adjustments) const;

  private:
    std::vector<std::string> sets_;
    std::vector<std::string> replicas_;
    std::vector<std::string> env_;
};

/// For verbs that read a manifest as `muster run` does.
class ManifestFlags {
  public:
    void declare(Flags& flags, ManifestOptions& options);
    std::optional<std::string> finish(ManifestOptions& options) const;

  private:
    std::vector<std::string> more_files_;  ///< of -f
    AdjustmentFlags adjustments_;
    std::vector<std::string> mounts_;
    std::vector<std::string> volumes_;
    std::vector<std::string> secrets_;
    std::vector<std::string> configs_;
    std::vector<std::string> entrypoints_;
    std::string fit_ = "scale";
};

/// What a server maps in its pods: the flags of `muster run` of the same names.
struct NodeMappings {
    std::vector<std::pair<std::string, std::string>> mounts;
    std::vector<std::pair<std::string, std::string>> volumes;
    std::vector<std::pair<std::string, std::string>> env;
    std::vector<std::string> ignored_resources;
    /// For pods in whose namespace they do not exist.
    std::vector<FileObject> file_objects;
    kube::Entrypoints entrypoints;
    std::string entrypoints_file;
    std::string workdir;
    bool own_workdir = false;
    bool private_files = false;
    std::uint64_t files_bytes = std::uint64_t{1} << 30;
    bool scales_requests = false;  ///< --fit scale
};

class NodeFlags {
  public:
    void declare(Flags& flags, NodeMappings& mappings);
    std::optional<std::string> finish(NodeMappings& mappings) const;
    /// The first of these flags on the line; empty: none.
    static std::string given(const Flags& flags);

  private:
    std::vector<std::string> env_;
    std::vector<std::string> mounts_;
    std::vector<std::string> volumes_;
    std::vector<std::string> secrets_;
    std::vector<std::string> configs_;
    std::vector<std::string> entrypoints_;
    std::string fit_ = "strict";
    std::string files_ = "shared";
    std::string files_limit_;
};

/// --files shared|private, --files-limit SIZE.
std::optional<std::string> read_files_flags(const std::string& files, const std::string& limit,
                                            bool& private_files, std::uint64_t& bytes);

/// The files of a verb, given with or without -f.
class FileFlags {
  public:
    void declare(Flags& flags, std::vector<std::string>& files);
    void finish(std::vector<std::string>& files) const;

  private:
    std::vector<std::string> more_;
};

/// --output json|yaml; "" leaves the format unchanged.
std::optional<std::string> read_output(const std::string& text, OutputFormat& format);
/// --sandbox auto|namespaces|none.
std::optional<std::string> read_sandbox(const std::string& text, runtime::SandboxMode& sandbox);
/// --timeout of verbs that may look once, for which 0 is allowed.
std::optional<std::string> read_timeout(const std::string& text, std::chrono::nanoseconds& timeout);
/// A flag with a duration above 0. `such_as`: "10s or 1m30s". "" is not read.
std::optional<std::string> read_duration(std::string_view flag, const std::string& text,
                                         std::string_view such_as,
                                         std::optional<std::chrono::nanoseconds>& duration);

// Checks of values as they are written.

/// An unset variable of a script must not mean this machine.
std::string not_unnamed(const std::string& text);
/// 0 or a positive number.
std::string not_a_count(const std::string& text);

}  // namespace muster::cli
