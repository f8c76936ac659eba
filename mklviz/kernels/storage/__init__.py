"""How kernel matrices are kept: packed triangles, factors, files, rows, or nothing but the samples."""
