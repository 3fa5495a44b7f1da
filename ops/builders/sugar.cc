#include "ops/builders/sugar.h"
