#include "elastic_main.h"

int main(int argc, char** argv) { return muster::elastic::run(argc, argv); }
