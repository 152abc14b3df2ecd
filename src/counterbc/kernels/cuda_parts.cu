// What the CUDA kernels share: where a thread stands, and products of tiles in shared memory.
//
// A team of TEAM threads trains one network. These numbers are defined before this text:
//   S, A       dimensions of observations and actions
//   M          actions of C(s, a); STORED: whether each pair of each network has a set of its own
//   BATCH      pairs of a step, computed ROWS (a multiple of 8) at a time
//   TEAM       128 or 256 threads
//   LOW, HIGH, HALF_LOG_2PI, NEW_1, NEW_2, KEEP_2, EPSILON    as in policies and Adam

#define H 64                    // units of a layer
#define O (2 * A)               // outputs of the head: the means, then log σ before their clamp
#define XS ((S + 4) / 4 * 4)    // floats of a state: its numbers, 1 for the bias, zeros
#define HS 72                   // floats of a row of H activations; other strides collide in banks
#define WS 68                   // and of a row of H weights
#define TILES ((BATCH + ROWS - 1) / ROWS)
#define SLICES ((M + 7) / 8)    // of C(s, a) per thread of eight
#define TR (ROWS / 8)           // rows and columns of a thread's part of ROWS × H numbers
#define TC (8 * H / TEAM)
#define GROUPS (TEAM / H)       // threads that share one of H columns
#define OUTS ((O + GROUPS - 1) / GROUPS)
#define WO (H * H / TEAM / 4)   // a thread owns 4 × WO numbers of H × H weights
#define OWNERS (TEAM / 16)      // threads along a row of these
#define ALL 0xffffffffu
#define INFINITE __int_as_float(0x7f800000)
#define ROUND(x) (((x) + 3) / 4 * 4)

typedef long long index_t;

struct Place {  // where a thread stands in its team
    int id, row, column;     // of ROWS × H activations: rows row + 8 j, columns TC · column + c
    int owned_row, owned_column;  // of H × H weights
    int group, unit;         // unit of H, and which of GROUPS
    __device__ Place(int thread)
        : id(thread), row(thread / (H / TC)), column(thread % (H / TC)),
          owned_row(4 * (thread / OWNERS)), owned_column(4 * (thread % OWNERS)),
          group(thread / H), unit(thread % H) {}
    __device__ int owned(int k) const { return owned_column + k / 4 * 4 * OWNERS + k % 4; }
};

__device__ __forceinline__ void read4(float* out, const float* in) {
    const float4 x = *reinterpret_cast<const float4*>(in);
    out[0] = x.x, out[1] = x.y, out[2] = x.z, out[3] = x.w;
}

__device__ __forceinline__ void read_columns(float* out, const float* in) {
#if TEAM == 128
    read4(out, in);
#else
    const float2 x = *reinterpret_cast<const float2*>(in);
    out[0] = x.x, out[1] = x.y;
#endif
}

__device__ __forceinline__ void write_columns(float* out, const float* in) {
#if TEAM == 128
    *reinterpret_cast<float4*>(out) = make_float4(in[0], in[1], in[2], in[3]);
#else
    *reinterpret_cast<float2*>(out) = make_float2(in[0], in[1]);
#endif
}

// The weights of one unit in the head: O numbers.
__device__ __forceinline__ void read_outputs(float* out, const float* in) {
#pragma unroll
    for (int o = 0; o < O; o += 2) {
        const float2 x = *reinterpret_cast<const float2*>(in + o);
        out[o] = x.x, out[o + 1] = x.y;
    }
}

// acc += x W of a thread's rows and columns; x (ROWS, H), W (H, H).
__device__ __forceinline__ void add_product(
    float (&acc)[TR][TC], const float* x, const float* w, const Place& place
) {
#pragma unroll 4
    for (int k = 0; k < H; k += 4) {
        float a[TR][4];
#pragma unroll
        for (int j = 0; j < TR; j++) read4(a[j], x + (place.row + 8 * j) * HS + k);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            float b[TC];
            read_columns(b, w + (k + i) * WS + TC * place.column);
#pragma unroll
            for (int j = 0; j < TR; j++)
#pragma unroll
                for (int c = 0; c < TC; c++) acc[j][c] = fmaf(a[j][i], b[c], acc[j][c]);
        }
    }
}

// acc += x Wᵀ; here a thread has the columns place.column + (H / TC) c.
__device__ __forceinline__ void add_transposed(
    float (&acc)[TR][TC], const float* x, const float* w, const Place& place
) {
#pragma unroll 4
    for (int k = 0; k < H; k += 4) {
        float a[TR][4];
#pragma unroll
        for (int j = 0; j < TR; j++) read4(a[j], x + (place.row + 8 * j) * HS + k);
#pragma unroll
        for (int c = 0; c < TC; c++) {
            float b[4];
            read4(b, w + (place.column + H / TC * c) * WS + k);
#pragma unroll
            for (int j = 0; j < TR; j++)
#pragma unroll
                for (int i = 0; i < 4; i++) acc[j][c] = fmaf(a[j][i], b[i], acc[j][c]);
        }
    }
}

// acc += xᵀ y of the weights that a thread owns; x, y (ROWS, H).
__device__ __forceinline__ void add_outer(
    float (&acc)[4][WO], const float* x, const float* y, const Place& place
) {
#pragma unroll 4
    for (int r = 0; r < ROWS; r++) {
        float a[4], b[WO];
        read4(a, x + r * HS + place.owned_row);
#pragma unroll
        for (int k = 0; k < WO; k += 4) read4(b + k, y + r * HS + place.owned(k));
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int k = 0; k < WO; k++) acc[i][k] = fmaf(a[i], b[k], acc[i][k]);
    }
}
