// The steps of policies made of a GRU, one ReLU layer and a Gaussian head, of 64 units each.
//
// A block of threads takes one network through all steps. Parameters and states stay in shared memory;
// Adam's moments of large layers lie in device memory and are read and written once per step.

__device__ __forceinline__ void second_layer(const Network& net, const Place& place) {
    float acc[TR][TC];
#pragma unroll
    for (int c = 0; c < TC; c++)
#pragma unroll
        for (int j = 0; j < TR; j++) acc[j][c] = net.p[INPUT + GATES + place.column + CG * c];
    add_spread(acc, net.h + T * TILE, net.w2, place);
#pragma unroll
    for (int j = 0; j < TR; j++)
#pragma unroll
        for (int c = 0; c < TC; c++) {
            const int at = (place.row + 8 * j) * HS + place.column + CG * c;
            net.grad[at] = acc[j][c] <= 0 ? 0 : acc[j][c];  // NaN stays
        }
}

// Compute the head, the losses and the gradient by both.
__device__ __forceinline__ void head_and_loss(
    const float* actions, const Network& net, const int* set, float* losses, int begin,
    const Place& place
) {
    const int lane = place.id % 8;
    for (int r = place.id / 8; r < ROWS; r += TEAM / 8) {
        float head[O], grad[O], action[A][SLICES];
        const float share = begin + r < BATCH ? 1.0f / BATCH : 0;
        read_actions(action, actions + (index_t)set[r] * (A * M), lane);
        head_of(head, net.head(), r, lane);
        const float loss = gaussian_loss(head, action, lane, grad);
        if (lane == 0) losses[r] = share * loss;
#pragma unroll
        for (int o = 0; o < O; o++) grad[o] = share ? grad[o] * share : 0;
        below_head(grad, net.head(), r, lane);
    }
}

// Add the gradient by head and second layer, and set `below` to that by the last state.
__device__ __forceinline__ void second_gradient(
    Gradient& sums, float (&below)[TR][TC], const Network& net, const Place& place
) {
    const Head head = net.head();
#pragma unroll
    for (int j = 0; j < TR; j++)
#pragma unroll
        for (int c = 0; c < TC; c++) below[j][c] = 0;
    add_transposed(below, head.g2, net.w2, place);
    add_outer(sums.w2, net.h + T * TILE, head.g2, place);
    sums.head.add(head, place);
}

// Add the gradients by the layers of inputs and states, from that by the last state.
__device__ __forceinline__ void gru_backward(
    Gradient& sums, float (&below)[TR][TC], const Network& net, const Kept& kept,
    const Place& place
) {
#pragma unroll 1
    for (int k = T - 1; k >= 0; k--) {
#pragma unroll
        for (int j = 0; j < TR; j++)
#pragma unroll
            for (int c = 0; c < TC; c++) {
                const int at = (place.row + 8 * j) * HS + place.column + CG * c;
                const float r = kept.r[k][j][c], z = kept.z[k][j][c], n = kept.n[k][j][c];
                const float by_n = below[j][c] * (1 - z) * (1 - n * n);
                net.grad[at] = by_n * kept.u[k][j][c] * r * (1 - r);
                net.grad[TILE + at] = below[j][c] * (net.h[k * TILE + at] - n) * z * (1 - z);
                net.grad[2 * TILE + at] = by_n * r;
                net.grad[3 * TILE + at] = by_n;
                below[j][c] *= z;
            }
        __syncthreads();
        if (k)
#pragma unroll
            for (int gate = 0; gate < 3; gate++) {
                const float* by_gate = net.grad + gate * TILE;
                add_transposed(below, by_gate, net.u + gate * MATRIX, place);
                add_outer(sums.u[gate], net.h + k * TILE, by_gate, place);
            }
#pragma unroll
        for (int i = 0; i < ITEMS; i++) {
            const int item = place.group + GROUPS * i, gate = item % 3, s = item / 3 * 4;
            if (s > S) continue;
            const float* by_gate = net.grad + (gate < 2 ? gate : 3) * TILE + place.unit;
#pragma unroll 4
            for (int r = 0; r < ROWS; r++) {
                float a[4];
                read4(a, net.x + (k * ROWS + r) * XS + s);
                const float g = by_gate[r * HS];
#pragma unroll
                for (int q = 0; q < 4; q++) sums.x[i][q] = fmaf(a[q], g, sums.x[i][q]);
            }
        }
        if (place.group == GROUPS - 1)
#pragma unroll 4
            for (int r = 0; r < ROWS; r++) sums.u_bias += net.grad[2 * TILE + r * HS + place.unit];
        __syncthreads();
    }
}

__device__ __forceinline__ void update_matrix(
    float* w, float* memory, int stride, index_t spread, const float (&grad)[4][WO], float size,
    float scale, const Place& place
) {
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int k = 0; k < WO; k++) {
            float* at = memory + (place.owned_row + i) * stride + place.owned(k);
            float& p = w[(place.owned_row + i) * WS + place.owned(k)];
            update(p, at[spread], at[2 * spread], grad[i][k], size, scale);
        }
}

__device__ __forceinline__ void update_all(
    const Network& net, float* memory, index_t spread, const Gradient& sums, float size,
    float scale, const Place& place
) {
    const Small small = net.small();
#pragma unroll
    for (int gate = 0; gate < 3; gate++) {
        float* at = memory + INPUT + gate * H;
        update_matrix(net.u + gate * MATRIX, at, GATES, spread, sums.u[gate], size, scale, place);
    }
    update_matrix(net.w2, memory + SECOND, H, spread, sums.w2, size, scale, place);
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        const int item = place.group + GROUPS * i, gate = item % 3, first = item / 3 * 4;
        const int column = gate * H + place.unit;
#pragma unroll
        for (int q = 0; q < 4; q++) {
            if (first + q > S) continue;
            small.update_at((first + q) * GATES + column, sums.x[i][q], size, scale);
            if (first + q == S && gate < 2)  // both biases of r and of z have one gradient
                small.update_at(INPUT + column, sums.x[i][q], size, scale);
        }
    }
    if (place.group == GROUPS - 1)
        small.update_at(INPUT + 2 * H + place.unit, sums.u_bias, size, scale);
    sums.head.apply(small, INPUT + GATES, size, scale, place);
}

// Copy weights between device memory and shared memory.
__device__ __forceinline__ void copy_weights(const Network& net, float* memory, bool load, int id) {
    for (int k = id; k < 4 * H * H; k += TEAM) {
        const int matrix = k / (H * H), row = k / H % H, column = k % H;
        float* at = matrix < 3 ? memory + INPUT + row * GATES + matrix * H + column
                               : memory + SECOND + row * H + column;
        float* w = net.u + matrix * MATRIX + row * WS + column;  // the second layer follows U
        if (load) *w = *at;
        else *at = *w;
    }
}

extern "C" __global__ void __launch_bounds__(TEAM, BLOCKS) train_gru(
    const index_t* position, const index_t* pairs, const float* obs, const float* actions,
    const index_t* starts, float* memory, const float* sizes, const float* roots, float* loss,
    int steps, int networks, int width
) {
    extern __shared__ __align__(16) float shared[];
    const int n = blockIdx.x;
    const Place place(threadIdx.x);
    const Network net(shared);
    float* losses = net.by_head + ROUND(ROWS * O);
    int* set = reinterpret_cast<int*>(losses + ROWS);
    const index_t spread = (index_t)networks * COUNT;
    memory += (index_t)n * COUNT;
    for (int k = place.id; k < SMALL; k += TEAM) {
        const float* at = memory + small_at(k);
        net.p[k] = *at, net.m[k] = at[spread], net.v[k] = at[2 * spread];
    }
    copy_weights(net, memory, true, place.id);
    for (int k = place.id; k < TILE; k += TEAM) net.h[k] = 0;
    for (int t = 0; t < steps; t++) {
        const index_t now = ((index_t)t * networks + n) * BATCH;
        Gradient sums = {};
        float total = 0;
#pragma unroll 1
        for (int tile = 0; tile < TILES; tile++) {
            Kept kept;
            float below[TR][TC];
            read_windows(position + now, pairs + (index_t)n * width, starts, obs, net, set,
                         tile * ROWS, n * width, place.id);
            __syncthreads();
            gru_forward(net, kept, place);
            second_layer(net, place);
            __syncthreads();
            head_and_loss(actions, net, set, losses, tile * ROWS, place);
            __syncthreads();
            second_gradient(sums, below, net, place);
            if (t == steps - 1 && place.id == 0)
                for (int r = 0; r < ROWS; r++) total += losses[r];
            __syncthreads();
            gru_backward(sums, below, net, kept, place);
        }
        update_all(net, memory, spread, sums, sizes[t], 1 / roots[t], place);
        if (t == steps - 1 && place.id == 0) loss[n] = total;
        __syncthreads();
    }
    for (int k = place.id; k < SMALL; k += TEAM) {
        float* at = memory + small_at(k);
        *at = net.p[k], at[spread] = net.m[k], at[2 * spread] = net.v[k];
    }
    copy_weights(net, memory, false, place.id);
}
