// The steps of policies made of two ReLU layers of 64 units and a Gaussian head.
//
// A block of threads takes one network through all steps: parameters, activations and Adam's moments
// stay in shared memory and registers. FORM says how pairs are weighed: PLAIN, GIVEN (by a column)
// or STATES, where a second team of threads trains a network of the state beside the policy.

#define FIRST ((S + 1) * H)                 // numbers of the first layer
#define SMALL (FIRST + H + (H + 1) * O)     // first layer, second bias and head
#define LAYERS (FIRST + (H + 1) * H)        // numbers before the head in memory
#define POLICY (LAYERS + (H + 1) * O)
#define TEAMS (FORM == STATES ? 2 : 1)
#define COUNT (POLICY + (FORM == STATES ? LAYERS + H + 1 : 0))
#define CHUNKS ((XS / 4 + GROUPS - 1) / GROUPS)  // of four inputs, per thread
#define SHARED (3 * ROUND(SMALL) + H * WS + ROWS * XS + 4 * ROWS * HS + ROUND(ROWS * O))

struct Network {  // what a team has in shared memory
    float *p, *m, *v;  // SMALL numbers each
    float *w2, *x, *h1, *h2, *g1, *g2, *by_head;
    __device__ Network(float* at) {
        p = at, m = p + ROUND(SMALL), v = m + ROUND(SMALL);
        w2 = v + ROUND(SMALL), x = w2 + H * WS, h1 = x + ROWS * XS;
        h2 = h1 + ROWS * HS, g1 = h2 + ROWS * HS, g2 = g1 + ROWS * HS, by_head = g2 + ROWS * HS;
    }
    __device__ Small small() const { return {p, m, v}; }
    __device__ float* b2() const { return p + FIRST; }
    __device__ Head head() const { return {h2, p + FIRST + H, g2, by_head}; }
};

// Return where one of the SMALL numbers lies among the parameters; −1: the head has fewer outputs.
__device__ __forceinline__ int small_at(int k, int outputs) {
    if (k < FIRST) return k;
    if (k < FIRST + H) return k + H * H;
    k -= FIRST + H;
    return k % O < outputs ? LAYERS + k / O * outputs + k % O : -1;
}

struct Gradient {  // of the numbers that a thread owns
    float w2[4][WO], w1[CHUNKS][4];
    HeadGradient head;
};

struct Data {
    const index_t *position, *pairs;
    const float *obs, *actions, *column;
};

__device__ __forceinline__ void read_states(
    const Data& data, const Network& net, int* set, index_t now, int begin, int n, int width, int id
) {
    for (int r = id; r < ROWS; r += TEAM) {
        const bool live = begin + r < BATCH;
        const index_t place = live ? data.position[now + begin + r] : 0;
        const index_t pair = data.pairs[(index_t)n * width + place];
        set[r] = STORED ? n * width + place : pair;
        for (int s = 0; s < S; s++) net.x[r * XS + s] = data.obs[pair * S + s];
        for (int s = S; s < XS; s++) net.x[r * XS + s] = s == S;
    }
}

__device__ __forceinline__ void first_layer(const Network& net, const Place& place) {
    float acc[TR][TC] = {};
#pragma unroll 5
    for (int s = 0; s <= S; s++) {
        float b[TC];
        read_columns(b, net.p + s * H + TC * place.column);
#pragma unroll
        for (int j = 0; j < TR; j++) {
            const float a = net.x[(place.row + 8 * j) * XS + s];
#pragma unroll
            for (int c = 0; c < TC; c++) acc[j][c] = fmaf(a, b[c], acc[j][c]);
        }
    }
#pragma unroll
    for (int j = 0; j < TR; j++) {
#pragma unroll
        for (int c = 0; c < TC; c++) acc[j][c] = acc[j][c] <= 0 ? 0 : acc[j][c];  // NaN stays
        write_columns(net.h1 + (place.row + 8 * j) * HS + TC * place.column, acc[j]);
    }
}

__device__ __forceinline__ void second_layer(const Network& net, const Place& place) {
    float acc[TR][TC], bias[TC];
    read_columns(bias, net.b2() + TC * place.column);
#pragma unroll
    for (int j = 0; j < TR; j++)
#pragma unroll
        for (int c = 0; c < TC; c++) acc[j][c] = bias[c];
    add_product(acc, net.h1, net.w2, place);
#pragma unroll
    for (int j = 0; j < TR; j++) {
#pragma unroll
        for (int c = 0; c < TC; c++) acc[j][c] = acc[j][c] <= 0 ? 0 : acc[j][c];
        write_columns(net.h2 + (place.row + 8 * j) * HS + TC * place.column, acc[j]);
    }
}

// Compute the head, the losses and the gradient by both; with STATES the gradient is not weighed yet.
__device__ __forceinline__ void head_and_loss(
    const Data& data, const Network& net, const int* set, float* losses, float* f, index_t now,
    int begin, int team, const Place& place
) {
    const int lane = place.id % 8;
    for (int r = place.id / 8; r < ROWS; r += TEAM / 8) {
        float head[O], grad[O] = {}, action[A][SLICES], weight = 1;
        const bool live = begin + r < BATCH;
        if (team == 0) read_actions(action, data.actions + (index_t)set[r] * (A * M), lane);
        if (FORM == GIVEN && live) weight = data.column[now + begin + r];
        head_of(head, net.head(), r, lane);
        if (team == 1) {
            if (lane == 0) f[r] = head[0];
            continue;
        }
        const float loss = gaussian_loss(head, action, lane, grad);
        weight *= live ? 1.0f / BATCH : 0;
        if (lane == 0) losses[r] = FORM == STATES ? loss : weight * loss;
        if (FORM == STATES) {
            if (lane == 0)
#pragma unroll
                for (int o = 0; o < O; o++) net.by_head[r * O + o] = grad[o];
            continue;
        }
#pragma unroll
        for (int o = 0; o < O; o++) grad[o] = live ? grad[o] * weight : 0;
        below_head(grad, net.head(), r, lane);
    }
}

// Weigh pairs by the softmax of f over the batch, and finish the gradient by both heads.
__device__ __forceinline__ void weigh_states(
    const Network& net, float* losses, const float* f, int team, const Place& place
) {
    const int lane = place.id % 32;
    float top = -INFINITE, total = 0, average = 0;
    for (int r = lane; r < BATCH; r += 32) top = fmaxf(top, f[r]);
    for (int k = 16; k; k /= 2) top = fmaxf(top, __shfl_xor_sync(ALL, top, k));
    for (int r = lane; r < BATCH; r += 32) {
        const float share = expf(f[r] - top);
        total += share, average = fmaf(share, losses[r], average);
    }
    for (int k = 16; k; k /= 2) {
        total += __shfl_xor_sync(ALL, total, k);
        average += __shfl_xor_sync(ALL, average, k);
    }
    average /= total;
    for (int r = place.id / 8; r < ROWS; r += TEAM / 8) {
        float grad[O] = {};
        const float weight = r < BATCH ? expf(f[r] - top) / total / BATCH : 0;
        if (team == 1)
            grad[0] = r < BATCH ? weight * (losses[r] - average) : 0;
        else
#pragma unroll
            for (int o = 0; o < O; o++) grad[o] = r < BATCH ? weight * net.by_head[r * O + o] : 0;
        __syncwarp();  // by_head is written by one of the threads that read it
        below_head(grad, net.head(), r, place.id % 8);
    }
    if (team == 0 && place.id == 0) losses[ROWS] = average / BATCH;
}

// Add the gradient by head and second layer, and store that by the first layer before its ReLU.
__device__ __forceinline__ void second_gradient(
    Gradient& sums, const Network& net, const Place& place
) {
    float acc[TR][TC] = {};
    add_transposed(acc, net.g2, net.w2, place);
#pragma unroll
    for (int j = 0; j < TR; j++)
#pragma unroll
        for (int c = 0; c < TC; c++) {
            const int at = (place.row + 8 * j) * HS + place.column + H / TC * c;
            net.g1[at] = net.h1[at] <= 0 ? 0 : acc[j][c];
        }
    add_outer(sums.w2, net.h1, net.g2, place);
    sums.head.add(net.head(), place);
}

__device__ __forceinline__ void first_gradient(
    Gradient& sums, const Network& net, const Place& place
) {
#pragma unroll
    for (int k = 0; k < CHUNKS; k++) {
        const int s = 4 * (place.group + GROUPS * k);
        if (s > S) continue;
#pragma unroll 4
        for (int r = 0; r < ROWS; r++) {
            float a[4];
            read4(a, net.x + r * XS + s);
            const float g = net.g1[r * HS + place.unit];
#pragma unroll
            for (int i = 0; i < 4; i++) sums.w1[k][i] = fmaf(a[i], g, sums.w1[k][i]);
        }
    }
}

__device__ __forceinline__ void update_all(
    const Network& net, Gradient& sums, float (&m)[4][WO], float (&v)[4][WO], float size,
    float scale, const Place& place
) {
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int k = 0; k < WO; k++) {
            float& p = net.w2[(place.owned_row + i) * WS + place.owned(k)];
            update(p, m[i][k], v[i][k], sums.w2[i][k], size, scale);
        }
#pragma unroll
    for (int k = 0; k < CHUNKS; k++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int s = 4 * (place.group + GROUPS * k) + i;
            if (s <= S) net.small().update_at(s * H + place.unit, sums.w1[k][i], size, scale);
        }
    sums.head.apply(net.small(), FIRST, size, scale, place);
}

extern "C" __global__ void __launch_bounds__(TEAM * TEAMS, BLOCKS) train_layers(
    const index_t* position, const index_t* pairs, const float* obs, const float* actions,
    const float* column, float* memory, const float* sizes, const float* roots, float* loss,
    int steps, int networks, int width
) {
    extern __shared__ __align__(16) float shared[];
    const int n = blockIdx.x, team = threadIdx.x / TEAM;
    const Place place(threadIdx.x % TEAM);
    const Network net(shared + team * SHARED);
    const Data data = {position, pairs, obs, actions, column};
    float* losses = shared + TEAMS * SHARED;  // ROWS, then the average
    float* f = losses + ROWS + 4;
    int* set = reinterpret_cast<int*>(f + ROWS) + team * ROWS;
    const int outputs = team == 0 ? O : 1;
    const index_t spread = (index_t)networks * COUNT;
    memory += (index_t)n * COUNT + team * POLICY;
    float m[4][WO], v[4][WO];

    for (int k = place.id; k < SMALL; k += TEAM) {
        const int at = small_at(k, outputs);
        net.p[k] = at < 0 ? 0 : memory[at];
        net.m[k] = at < 0 ? 0 : memory[spread + at];
        net.v[k] = at < 0 ? 0 : memory[2 * spread + at];
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int k = 0; k < WO; k++) {
            const int row = place.owned_row + i, at = FIRST + row * H + place.owned(k);
            net.w2[row * WS + place.owned(k)] = memory[at];
            m[i][k] = memory[spread + at], v[i][k] = memory[2 * spread + at];
        }

    for (int t = 0; t < steps; t++) {
        const index_t now = ((index_t)t * networks + n) * BATCH;
        const float size = sizes[t], scale = 1 / roots[t];
        Gradient sums = {};
        float total = 0;
#pragma unroll 1
        for (int tile = 0; tile < TILES; tile++) {
            const int begin = tile * ROWS;
            read_states(data, net, set, now, begin, n, width, place.id);
            __syncthreads();
            first_layer(net, place);
            __syncthreads();
            second_layer(net, place);
            __syncthreads();
            head_and_loss(data, net, set, losses, f, now, begin, team, place);
            __syncthreads();
            if (FORM == STATES) {
                weigh_states(net, losses, f, team, place);
                __syncthreads();
            }
            second_gradient(sums, net, place);
            __syncthreads();
            first_gradient(sums, net, place);
            if (t == steps - 1 && threadIdx.x == 0) {
                if (FORM == STATES) total = losses[ROWS];
                else for (int r = 0; r < ROWS; r++) total += losses[r];
            }
            if (tile < TILES - 1) __syncthreads();
        }
        update_all(net, sums, m, v, size, scale, place);
        if (t == steps - 1 && threadIdx.x == 0) loss[n] = total;
        __syncthreads();
    }

    for (int k = place.id; k < SMALL; k += TEAM) {
        const int at = small_at(k, outputs);
        if (at >= 0) {
            memory[at] = net.p[k];
            memory[spread + at] = net.m[k], memory[2 * spread + at] = net.v[k];
        }
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int k = 0; k < WO; k++) {
            const int row = place.owned_row + i, at = FIRST + row * H + place.owned(k);
            memory[at] = net.w2[row * WS + place.owned(k)];
            memory[spread + at] = m[i][k], memory[2 * spread + at] = v[i][k];
        }
}
