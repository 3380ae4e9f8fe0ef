#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::cli {

/// The text of a kubeconfig of 'muster up' for clients on other machines, which reach its server at
/// `host`, a name or an address of this one; the port stays. kInvalid: `host` is neither, or the
/// text has no server. Pure.
Result<std::string> with_host(std::string text, std::string_view host);

}  // namespace muster::cli
