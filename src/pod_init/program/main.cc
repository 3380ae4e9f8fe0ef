#include "pod_init/pod_init.h"

// A pod's init as a program of its own, so that the thousand of them that a machine may have load
// none of the libraries that the rest needs. It is embedded in the program that starts it
// (muster_embed_program).
int main() { return muster::pod_init::run(); }
