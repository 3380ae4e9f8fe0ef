#pragma once

#include "base/result.h"
#include "base/time/clock.h"
#include "cli/internal/envtest/kube_apiserver_flags.h"
#include "control_plane/serving_identity.h"
#include "net/tls/certificates.h"

namespace muster::cli {

/// What the files that the options name say about the server and its users. If there is no
/// certificate to serve with, one for `names` is made, and left in cert_dir as kube-apiserver does.
/// Errors name the flag and the file.
Result<control_plane::ServingIdentity> read_kube_apiserver_files(
    const KubeApiserverOptions& options, const net::ServerNames& names, WallTime now);

}  // namespace muster::cli
