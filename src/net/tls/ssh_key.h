#pragma once

#include <string>

#include "base/result.h"

namespace muster::net {

/// A key pair as OpenSSH reads it.
struct SshKey {
    std::string private_pem;  ///< for a file such as id_rsa
    std::string public_line;  ///< a line of authorized_keys, with its newline
};

/// A new ECDSA key on the curve P-521, which every OpenSSH since 5.7 accepts. Thread: any.
Result<SshKey> make_ssh_key();

}  // namespace muster::net
