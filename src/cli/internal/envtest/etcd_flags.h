#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/internal/envtest/go_flags.h"
#include "control_plane/listen_address.h"

namespace muster::cli {

/// What a command line of etcd asks for.
struct EtcdOptions {
    std::vector<control_plane::ListenAddress> listen;
    std::string data_dir;
    bool sync = true;  ///< whether what is stored survives a loss of power
    /// What was asked for and has no effect here, each as a flag with its value.
    std::vector<std::string> without_effect = {};
};

/// Its flags, for parse_go_flags().
std::vector<GoFlag> etcd_flags();
Result<EtcdOptions> read_etcd_flags(const GivenFlags& given);
/// What --help prints.
std::string etcd_help();

}  // namespace muster::cli
