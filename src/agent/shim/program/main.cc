#include "agent/shim/program/shim.h"

// A shim as a program of its own, which loads no library: there is one for each worker, and what it
// weighs is taken from training. It is a part of the program that starts it (image.S).
int main() { return muster::agent::run_shim(); }
