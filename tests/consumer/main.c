/* The C header alone, as C11 with every warning. */
#include <lathe/lathe.h>

int main(void) { return 0; }
