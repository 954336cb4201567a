// A slice of an operand that is a matrix in memory is loaded in pieces of PIECE_WIDTH elements,
// along the wide dimension (m or n) where that is the contiguous one (along_wide), else along the
// depth.

/// (wide, depth) within the slice of this invocation's piece i.
uvec2 piece_at(uint i, uint wide, bool along_wide) {
  const uint piece = gl_LocalInvocationID.x + i * THREADS;
  const uint row = (along_wide ? wide : BK) / PIECE_WIDTH;  // pieces
  const uint across = piece / row, along = piece % row * PIECE_WIDTH;
  return along_wide ? uvec2(along, across) : uvec2(across, along);
}

/// Elements from a matrix's tile to the piece in its first slice.
uint64_t piece_offset(uint stride, uvec2 at, bool along_wide) {
  if (along_wide) return uint64_t(at.y) * stride + at.x;
  return uint64_t(at.x) * stride + at.y;
}
