#include "workers/shim/program/shim.h"

#if __has_feature(address_sanitizer)
// The leak check at exit stops the program with SIGSTOP, which an agent's SIGCONT undoes: then both
// would wait forever.
extern "C" int __lsan_is_turned_off() { return 1; }
#endif

// The shim is a program of its own that loads no library: there is one for each worker, and its
// memory is taken from training. The program that starts it carries it inside
// (muster_embed_program).
int main() { return muster::workers::run_shim(); }
