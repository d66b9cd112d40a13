// How far the logarithms of prices move in a block of steps.

// a and c of a scheme (see schemes.cuh), for an asset in a block of steps.
struct Drift {
  normal a[VARYING ? STEPS : 1], c[VARYING ? STEPS : 1];

  __device__ __forceinline__ void read(const Tables& tables, int asset, int block) {
    if (!VARYING) {
      a[0] = tables.drift[asset], c[0] = tables.drift[ASSETS + asset];
      return;
    }
    const Row<normal> as = row_of(tables.drift, tables.length, asset, block);
    const Row<normal> cs = row_of(tables.drift, tables.length, ASSETS + asset, block);
#pragma unroll
    for (int j = 0; VARYING && j < STEPS; j++) a[j] = as.v[j], c[j] = cs.v[j];
  }
};

// Increments of all assets in a block of steps. Increment j is r[j / 2] d[j] if FOLDED, else d[j].
struct Increments {
  normal r[ASSETS][STEPS / 2], d[ASSETS][STEPS];
  Drift drift[ASSETS];
  Jump<normal> jumps[ASSETS][STEPS];
  Row<normal> cash[2 * ASSETS];

#if SOBOL
  __device__ __forceinline__ Increments(Source& bridge, const normal (&mix)[ASSETS][ASSETS], const Tables& tables,
                                        int block) {
    if (FOLDED) {
      bridge.block(block, d);
#pragma unroll
      for (int j = 0; j < STEPS / 2; j++) r[0][j] = mix[0][0];
      return;
    }
    normal w[ASSETS][STEPS];
    bridge.block(block, w);
#pragma unroll
    for (int a = 0; a < ASSETS; a++)
#pragma unroll
      for (int j = 0; j < STEPS; j++) {
        d[a][j] = mix[a][0] * w[0][j];
#pragma unroll
        for (int b = 1; b < ASSETS; b++) d[a][j] = fma(mix[a][b], w[b][j], d[a][j]);
        if (VARYING) d[a][j] *= row_of(tables.scale, tables.length, a, block).v[j];
      }
  }
#else
  __device__ __forceinline__ Increments(Source& philox, const normal (&mix)[ASSETS][ASSETS], const Tables& tables,
                                        int block) {
#pragma unroll
    for (int a = 0; a < ASSETS; a++) {
      unsigned w[4];
#if SUMMED
#pragma unroll
      for (int h = 0; h < 2; h++) {
        normal radius[STEPS / 2], direction[STEPS];
        philox.words(2 * block + h, a, w);
        Normals<normal>::block(w, (normal)0.70710678118654752440 * (FOLDED ? mix[0][0] : 1), radius, direction);
#pragma unroll
        for (int j = 0; j < STEPS / 2; j++) d[a][h * STEPS / 2 + j] = radius[j] * (direction[2 * j] + direction[2 * j + 1]);
      }
#pragma unroll
      for (int j = 0; j < STEPS / 2; j++) r[a][j] = 1;
#else
      philox.words(block, a, w);
      Normals<normal>::block(w, FOLDED ? mix[0][0] : 1, r[a], d[a]);
#endif
    }
    if (BESIDES) besides(philox, tables, block);
    if (FOLDED) return;
#pragma unroll
    for (int j = 0; j < STEPS; j++) {
      normal z[ASSETS];
#pragma unroll
      for (int a = 0; a < ASSETS; a++) z[a] = r[a][j / 2] * d[a][j];
#pragma unroll
      for (int a = 0; a < ASSETS; a++) {
        d[a][j] = mix[a][0] * z[0];
#pragma unroll
        for (int b = 1; b <= a; b++) d[a][j] = fma(mix[a][b], z[b], d[a][j]);
        if (VARYING) d[a][j] *= row_of(tables.scale, tables.length, a, block).v[j];
      }
    }
  }
#endif

  __device__ __forceinline__ void besides(const Philox& philox, const Tables& tables, int block) {
#pragma unroll
    for (int a = 0; a < ASSETS; a++) {
      if (scheme != EXACT) drift[a].read(tables, a, block);
      if (paying[a]) cash[a] = row_of(tables.cash, tables.length, a, block);
      if (paying[a]) cash[ASSETS + a] = row_of(tables.cash, tables.length, ASSETS + a, block);
#pragma unroll
      for (int j = 0; j < STEPS; j++)
        if (jumping[a]) jumps[a][j].draw(philox, tables.jumps, block * STEPS + j, a);
    }
  }

  __device__ __forceinline__ normal diffused(normal p, int a, int j, bool opposite) const {
    if (FOLDED) return fma(opposite ? -r[a][j / 2] : r[a][j / 2], d[a][j], p);
    return opposite ? p - d[a][j] : p + d[a][j];
  }

  // p after step j of the block. y: the noise where the block begins, from which p counts if MIXED.
  __device__ __forceinline__ normal added_to(normal p, state y, int a, int j, bool opposite) const {
    if (!BESIDES) return diffused(p, a, j, opposite);
    if (scheme == EXACT)
      p = diffused(p, a, j, opposite);
    else
      p += discretised(opposite ? -d[a][j] : d[a][j], drift[a].a[VARYING ? j : 0], drift[a].c[VARYING ? j : 0]);
    if (jumping[a]) p += jumps[a][j].common + (opposite ? -jumps[a][j].own : jumps[a][j].own);
    if (paying[a] && cash[a].v[j] > 0) p += fall(MIXED ? (normal)(y + (state)p) : p, cash[a].v[j], cash[ASSETS + a].v[j]);
    return p;
  }
};
