#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::cli {

/// Where etcd of this program lets kube-apiserver of this program keep its objects, and the path
/// under which it says so.
struct StorePlace {
    std::string data_dir;  ///< absolute
    bool sync = true;

    friend bool operator==(const StorePlace&, const StorePlace&) = default;
};

inline constexpr std::string_view kStorePlacePath = "/muster/store";

std::string store_place_text(const StorePlace& place);
/// kInvalid for what another program has answered.
Result<StorePlace> read_store_place(std::string_view text);

}  // namespace muster::cli
