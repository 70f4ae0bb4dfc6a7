#include <stdio.h>
#include <warpmp.h>

int main(void) {
    puts(warpmp_version());
    return 0;
}
