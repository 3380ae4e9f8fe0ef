#pragma once

#include <string>

namespace muster::cli {

/// For verbs that talk to a server: which one, with which user, and in which namespace.
struct ServerOptions {
    std::string kubeconfig;  ///< empty: the default places
    std::string context;     ///< empty: the current one
    std::string namespace_;  ///< empty: the context's
};

}  // namespace muster::cli
