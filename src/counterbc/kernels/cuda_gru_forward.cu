// The forward pass of a GRU; see policies/gru.py for the names. T is the length of the history.

#define GATES (3 * H)
#define INPUT ((S + 1) * GATES)             // numbers of the input layer, its bias included
#define STATE (INPUT + H * GATES)           // where the bias of the state layer lies in memory
#define SECOND (STATE + GATES)              // where the second layer lies
#define LAST (SECOND + (H + 1) * H)         // where the head lies
#define COUNT (LAST + (H + 1) * O)
#define SMALL (INPUT + GATES + H + (H + 1) * O)  // input layer, bias of the state, b2, head
#define ITEMS ((3 * (XS / 4) + GROUPS - 1) / GROUPS)  // gates × four inputs, per thread
#define MATRIX (H * WS)
#define TILE (ROWS * HS)
#define CG (H / TC)

struct Network {  // what is in shared memory
    float *p, *m, *v;        // SMALL numbers each
    float *u, *w2;           // U of r, z and n, one after the other; the second layer
    float *x, *h;            // (T, ROWS, XS), (T + 1, ROWS, H)
    float *grad;             // by r, z, U_n h and n: (4, ROWS, H); also h2 and its gradient
    float *by_head;
    __device__ Network(float* at) {
        p = at, m = p + ROUND(SMALL), v = m + ROUND(SMALL), u = v + ROUND(SMALL);
        w2 = u + 3 * MATRIX, x = w2 + MATRIX, h = x + T * ROWS * XS;
        grad = h + (T + 1) * TILE, by_head = grad + 4 * TILE;
    }
    __device__ Small small() const { return {p, m, v}; }
    __device__ Head head() const {
        return {grad, p + INPUT + GATES + H, grad + TILE, by_head};
    }
};

struct Gradient {  // of the numbers that a thread owns
    float u[3][4][WO], w2[4][WO], x[ITEMS][4], u_bias;
    HeadGradient head;
};

struct Kept {  // r, z, n and U_n h + c_n of every step, at a thread's rows and columns
    float r[T][TR][TC], z[T][TR][TC], n[T][TR][TC], u[T][TR][TC];
};

__device__ __forceinline__ int small_at(int k) {
    if (k < INPUT) return k;
    if (k < INPUT + GATES) return k + H * GATES;
    if (k < INPUT + GATES + H) return k - (INPUT + GATES) + SECOND + H * H;
    return k - (INPUT + GATES + H) + LAST;
}

// acc += x W of a thread's rows, and columns place.column + CG c.
__device__ __forceinline__ void add_spread(
    float (&acc)[TR][TC], const float* x, const float* w, const Place& place
) {
#pragma unroll 4
    for (int k = 0; k < H; k += 4) {
        float a[TR][4];
#pragma unroll
        for (int j = 0; j < TR; j++) read4(a[j], x + (place.row + 8 * j) * HS + k);
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int c = 0; c < TC; c++) {
                const float b = w[(k + i) * WS + place.column + CG * c];
#pragma unroll
                for (int j = 0; j < TR; j++) acc[j][c] = fmaf(a[j][i], b, acc[j][c]);
            }
    }
}

// Read the last T observations of each pair; zeros before its episode.
__device__ __forceinline__ void read_windows(
    const index_t* position, const index_t* pairs, const index_t* starts, const float* obs,
    const Network& net, int* set, int begin, int first, int id
) {
    for (int k = id; k < T * ROWS; k += TEAM) {
        const int r = k % ROWS;
        const index_t row = begin + r < BATCH ? position[begin + r] : 0;
        const index_t pair = pairs[row], at = pair - (T - 1) + k / ROWS;
        const bool live = at >= starts[pair];
        if (k < ROWS) set[r] = STORED ? first + row : pair;
        for (int s = 0; s < S; s++) net.x[k * XS + s] = live ? obs[at * S + s] : 0;
        for (int s = S; s < XS; s++) net.x[k * XS + s] = s == S;
    }
}

__device__ __forceinline__ float sigmoid(float x) { return __fdividef(1, 1 + __expf(-x)); }

// Set acc to x W + b of one gate at step k.
__device__ __forceinline__ void gate_input(
    float (&acc)[TR][TC], const Network& net, int gate, int k, const Place& place
) {
#pragma unroll
    for (int j = 0; j < TR; j++)
#pragma unroll
        for (int c = 0; c < TC; c++) acc[j][c] = 0;
#pragma unroll 5
    for (int s = 0; s <= S; s++) {
        float a[TR];
#pragma unroll
        for (int j = 0; j < TR; j++) a[j] = net.x[(k * ROWS + place.row + 8 * j) * XS + s];
#pragma unroll
        for (int c = 0; c < TC; c++) {
            const float b = net.p[s * GATES + gate * H + place.column + CG * c];
#pragma unroll
            for (int j = 0; j < TR; j++) acc[j][c] = fmaf(a[j], b, acc[j][c]);
        }
    }
}

// Add U h + c of one gate at step k; h is 0 at the first.
__device__ __forceinline__ void add_state(
    float (&acc)[TR][TC], const Network& net, int gate, int k, const Place& place
) {
#pragma unroll
    for (int c = 0; c < TC; c++) {
        const float bias = net.p[INPUT + gate * H + place.column + CG * c];
#pragma unroll
        for (int j = 0; j < TR; j++) acc[j][c] += bias;
    }
    if (k) add_spread(acc, net.h + k * TILE, net.u + gate * MATRIX, place);
}

__device__ __forceinline__ void gru_forward(const Network& net, Kept& kept, const Place& place) {
#pragma unroll 1
    for (int k = 0; k < T; k++) {
        float r[TR][TC], z[TR][TC], n[TR][TC], u[TR][TC] = {};
        gate_input(r, net, 0, k, place);
        add_state(r, net, 0, k, place);
        gate_input(z, net, 1, k, place);
        add_state(z, net, 1, k, place);
        add_state(u, net, 2, k, place);
        gate_input(n, net, 2, k, place);
#pragma unroll
        for (int j = 0; j < TR; j++)
#pragma unroll
            for (int c = 0; c < TC; c++) {
                const int at = (place.row + 8 * j) * HS + place.column + CG * c;
                kept.r[k][j][c] = r[j][c] = sigmoid(r[j][c]);
                kept.z[k][j][c] = z[j][c] = sigmoid(z[j][c]);
                kept.u[k][j][c] = u[j][c];
                const float new_n = tanhf(fmaf(r[j][c], u[j][c], n[j][c]));
                kept.n[k][j][c] = new_n;
                net.h[(k + 1) * TILE + at] = fmaf(z[j][c], net.h[k * TILE + at] - new_n, new_n);
            }
        __syncthreads();
    }
}
