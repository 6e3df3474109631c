/* Both FTLs on a microcontroller, with power cuts. */
#include "board.h"
#include "cuts.h"

enum { CUTS = 400 };

int main(void) {
    const char *wrong = play_cuts(CUTS, 0x5EED);
    if (wrong) {
        say("FAILED: ");
        say(wrong);
        say("\n");
        return 1;
    }
    say_number(CUTS);
    say(" power cuts, and every sector compared after each\nPASSED\n");
    return 0;
}
