#include "apiserver/store.h"
