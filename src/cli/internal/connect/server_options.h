#pragma once

#include <string>

namespace muster::cli {

/// Of the verbs that talk to a server: which one, as whom, and where in it.
struct ServerOptions {
    std::string kubeconfig;  ///< empty: where clients look
    std::string context;     ///< empty: the current one
    std::string namespace_;  ///< empty: the context's
};

}  // namespace muster::cli
