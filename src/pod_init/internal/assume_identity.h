#pragma once

#include "pod_init/program_identity.h"

namespace muster::pod_init {

/// Assumes the identity for good. To be called by a process that is about to execute a program,
/// even after a vfork. Clears a parent-death signal, as any change of identity does. 0 or the
/// error; then `step` says what failed.
int assume_identity(const Identity& identity, const char*& step);

}  // namespace muster::pod_init
