#pragma once

#include "pod_init/program_identity.h"

namespace muster::pod_init {

/// Takes on the identity for good: called by a process that is about to execute a program, also
/// after a vfork. Clears a parent-death signal, as any change of identity does. 0 or the error;
/// `step` then says what failed.
int assume_identity(const Identity& identity, const char*& step);

}  // namespace muster::pod_init
