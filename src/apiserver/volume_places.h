#pragma once

#include <functional>
#include <map>
#include <string>

namespace muster::apiserver {

/// Where claims to volumes become directories of this machine. The server names them; whoever mounts
/// a volume makes its directory.
struct VolumePlaces {
    /// Absolute: ROOT/NAMESPACE/CLAIM is the directory of a claim. Empty: nothing binds claims.
    std::string root;
    /// The directories of single claims, by "CLAIM" or "NAMESPACE/CLAIM"; the latter comes first.
    std::map<std::string, std::string> claims = {};
    /// Removes such a directory when its volume is deleted with its claim, and logs what fails; null:
    /// it stays.
    std::function<void(const std::string& directory)> discard = {};
};

}  // namespace muster::apiserver
