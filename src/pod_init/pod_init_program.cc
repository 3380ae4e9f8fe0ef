#include "pod_init/pod_init_program.h"

#include "process/memory_program.h"

extern "C" {
extern const char muster_pod_init_begin[];
extern const char muster_pod_init_end[];
}

namespace muster::pod_init {

Result<UniqueFd> open_program() {
    return process::open_memory_program(
        "muster-pod-init", {muster_pod_init_begin, muster_pod_init_end}, "a pod's init");
}

}  // namespace muster::pod_init
