int z;
/* VIBE-KEEP START outer */
// VIBE-KEEP START inner
int b;
// VIBE-KEEP END inner
/* VIBE-KEEP END outer */
