#include "operator/operator.h"
