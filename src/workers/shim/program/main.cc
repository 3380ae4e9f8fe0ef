#include "workers/shim/program/shim.h"

#if __has_feature(address_sanitizer)
// The search for leaks at a program's end stops it by SIGSTOP, which an agent's SIGCONT takes away:
// both would wait for ever then.
extern "C" int __lsan_is_turned_off() { return 1; }
#endif

// A shim as a program of its own, which loads no library: there is one for each worker, and what it
// weighs is taken from training. The program that starts it carries it (muster_embed_program).
int main() { return muster::workers::run_shim(); }
