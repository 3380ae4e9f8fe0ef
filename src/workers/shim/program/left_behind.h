#pragma once

#include <cstddef>
#include <string>

namespace muster::workers {

/// "pid 12 (python3 upload.py), pid 13 (sleep 9)": the living processes below this one, in at most
/// that many bytes; empty if there is none.
std::string describe_descendants(std::size_t most);

}  // namespace muster::workers
