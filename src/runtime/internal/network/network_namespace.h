#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace muster::runtime {

/// A network namespace, kept alive by this object. Sockets and tap devices can be opened in it
/// without entering it: a child that shares our descriptors enters it for us, which takes about a
/// tenth of a millisecond. (To enter it and return needs rights over the machine's own namespace,
/// which an ordinary user does not have.)
///
/// Thread: any; the calls block.
class NetworkNamespace {
  public:
    /// A new, empty one. Like all calls below, it needs CAP_SYS_ADMIN in the process's user
    /// namespace.
    static Result<NetworkNamespace> create();

    /// One that another process made.
    static NetworkNamespace adopt(UniqueFd descriptor) {
        return NetworkNamespace(std::move(descriptor));
    }

    /// The one of a process that we may trace, for example a pod's init. That process keeps it
    /// alive, not this object.
    static NetworkNamespace of(UniqueFd pidfd) { return NetworkNamespace(std::move(pidfd)); }

    /// socket(2), close-on-exec. The socket belongs to the namespace for good.
    Result<UniqueFd> open_socket(int domain, int type, int protocol) const;

    /// Makes a tap device, the link `index`, that stays in the namespace, for another process to
    /// attach to.
    Result<void> make_tap(const std::string& name, std::uint32_t index) const;

    int descriptor() const { return descriptor_.get(); }

  private:
    explicit NetworkNamespace(UniqueFd descriptor) : descriptor_(std::move(descriptor)) {}

    UniqueFd descriptor_;
};

/// Whether both descriptors refer to the same namespace.
bool is_same_namespace(int one, int other);

}  // namespace muster::runtime
