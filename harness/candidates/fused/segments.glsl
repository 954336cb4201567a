// Normalisation works on planes: PLANE neighbouring floats that share their statistics (with other
// planes, for a batch norm). A plane is cut into SEGMENTS of SEGMENT floats, one a workgroup, so
// that few large planes still fill the device. Grid: segments along x, planes folded into y and z.
#define THREADS 256

uint plane_number() { return gl_WorkGroupID.z * gl_NumWorkGroups.y + gl_WorkGroupID.y; }
uint segment_length(uint segment) { return min(SEGMENT, PLANE - segment * SEGMENT); }
// A segment is a multiple of four long, so its pieces are whole but for the plane's last.
uint segment_pieces(uint segment) { return (segment_length(segment) + 3) / 4; }
