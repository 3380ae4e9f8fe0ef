#include "runtime/node.h"
