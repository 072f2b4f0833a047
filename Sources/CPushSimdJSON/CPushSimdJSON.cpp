#include "CPushSimdJSON.h"
