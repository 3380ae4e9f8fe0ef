#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace muster::runtime {

/// A network namespace, kept alive by this object. Sockets and tap devices can be opened
/// in it without going there: a child that shares our descriptors goes in our place, for about a
/// tenth of a millisecond. (Going there and back again needs rights over the machine's own
/// namespace, which an ordinary user has not.)
///
/// Thread: any; the calls block.
class NetworkNamespace {
  public:
    /// A new, empty one. Needs CAP_SYS_ADMIN in the process's user namespace, as all below.
    static Result<NetworkNamespace> create();

    /// One that somebody else made.
    static NetworkNamespace adopt(UniqueFd descriptor) {
        return NetworkNamespace(std::move(descriptor));
    }

    /// The one of a process that we may trace, say a pod's init. Kept alive by that process, not by
    /// this object.
    static NetworkNamespace of(UniqueFd pidfd) { return NetworkNamespace(std::move(pidfd)); }

    /// socket(2), close-on-exec. The socket belongs to the namespace for good.
    Result<UniqueFd> open_socket(int domain, int type, int protocol) const;

    /// Makes a tap device, the link `index`, that stays with the namespace, for another process to
    /// attach to.
    Result<void> make_tap(const std::string& name, std::uint32_t index) const;

    int descriptor() const { return descriptor_.get(); }

  private:
    explicit NetworkNamespace(UniqueFd descriptor) : descriptor_(std::move(descriptor)) {}

    UniqueFd descriptor_;
};

/// Whether both descriptors are of one namespace.
bool is_same_namespace(int one, int other);

}  // namespace muster::runtime
