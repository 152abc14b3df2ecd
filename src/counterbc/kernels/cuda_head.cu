// The Gaussian head of a policy, its loss and gradient; and Adam.

__device__ __forceinline__ float add_eight(float x) {
    x += __shfl_xor_sync(ALL, x, 1);
    x += __shfl_xor_sync(ALL, x, 2);
    return x + __shfl_xor_sync(ALL, x, 4);
}

__device__ __forceinline__ float largest_of_eight(float x) {
    x = fmaxf(x, __shfl_xor_sync(ALL, x, 1));
    x = fmaxf(x, __shfl_xor_sync(ALL, x, 2));
    return fmaxf(x, __shfl_xor_sync(ALL, x, 4));
}

// L of a pair and its gradient by the head, as policies/fused.py derives them, by eight threads.
__device__ __forceinline__ float gaussian_loss(
    const float (&head)[O], const float (&action)[A][SLICES], int lane, float (&grad)[O]
) {
    float mean[A], inverse[A], constant = A * HALF_LOG_2PI;
#pragma unroll
    for (int d = 0; d < A; d++) {
        const float raw = head[A + d];
        const float log_std = raw < LOW ? LOW : raw > HIGH ? HIGH : raw;  // NaN stays
        mean[d] = tanhf(head[d]), inverse[d] = expf(-log_std), constant += log_std;
    }
    float log_pi[SLICES], top = -INFINITE;
#pragma unroll
    for (int j = 0; j < SLICES; j++) {
        float square = 0;
#pragma unroll
        for (int d = 0; d < A; d++) {
            const float z = (action[d][j] - mean[d]) * inverse[d];
            square = fmaf(z, z, square);
        }
        log_pi[j] = M == 1 || lane + 8 * j < M ? -0.5f * square : -INFINITE;
        top = M == 1 ? log_pi[j] : fmaxf(top, log_pi[j]);
    }
    float p[SLICES], total = 0, average = 0;
    if (M > 1) {
        top = largest_of_eight(top);
#pragma unroll
        for (int j = 0; j < SLICES; j++) {
            log_pi[j] -= top;
            p[j] = __expf(log_pi[j]);
            total += p[j];
        }
        const float share = 1 / add_eight(total);
#pragma unroll
        for (int j = 0; j < SLICES; j++) {
            p[j] *= share;
            log_pi[j] = lane + 8 * j < M ? log_pi[j] : 0;
            average = fmaf(p[j], log_pi[j], average);
        }
        average = add_eight(average);
    }
    float by_mean[A] = {}, by_log_std[A] = {};
#pragma unroll
    for (int j = 0; j < SLICES; j++) {
        const float slope = M == 1 ? -1 : -p[j] * (log_pi[j] - average + 1);
#pragma unroll
        for (int d = 0; d < A; d++) {
            const float z = (action[d][j] - mean[d]) * inverse[d];
            by_mean[d] = fmaf(slope, z, by_mean[d]);
            by_log_std[d] = fmaf(slope, z * z - 1, by_log_std[d]);
        }
    }
#pragma unroll
    for (int d = 0; d < A; d++) {
        const float raw = head[A + d];
        const float mean_sum = M == 1 ? by_mean[d] : add_eight(by_mean[d]);
        const float log_std_sum = M == 1 ? by_log_std[d] : add_eight(by_log_std[d]);
        grad[d] = mean_sum * inverse[d] * (1 - mean[d] * mean[d]);
        grad[A + d] = raw < LOW || raw > HIGH ? 0 : log_std_sum;
    }
    return constant - top - average;
}

// What the head of a policy reads and writes: h2 and g2 (ROWS, H), weights (H + 1, O), (ROWS, O).
struct Head {
    const float *h2, *w3;
    float *g2, *by_head;
};

// Return the head of a row to each of the eight threads that compute it.
__device__ __forceinline__ void head_of(float (&head)[O], const Head& net, int r, int lane) {
#pragma unroll
    for (int o = 0; o < O; o++) head[o] = 0;
#pragma unroll
    for (int k = 0; k < H / 8; k++) {
        float w[O];
        const float h = net.h2[r * HS + lane + 8 * k];
        read_outputs(w, net.w3 + (lane + 8 * k) * O);
#pragma unroll
        for (int o = 0; o < O; o++) head[o] = fmaf(h, w[o], head[o]);
    }
#pragma unroll
    for (int o = 0; o < O; o++) head[o] = add_eight(head[o]) + net.w3[H * O + o];
}

// Store the gradient by the second layer before its ReLU, and that by the head.
__device__ __forceinline__ void below_head(
    const float (&grad)[O], const Head& net, int r, int lane
) {
#pragma unroll
    for (int k = 0; k < H / 8; k++) {
        float w[O], g = 0;
        read_outputs(w, net.w3 + (lane + 8 * k) * O);
#pragma unroll
        for (int o = 0; o < O; o++) g = fmaf(grad[o], w[o], g);
        net.g2[r * HS + lane + 8 * k] = net.h2[r * HS + lane + 8 * k] <= 0 ? 0 : g;
    }
    if (lane == 0)
#pragma unroll
        for (int o = 0; o < O; o++) net.by_head[r * O + o] = grad[o];
}

// The actions of C(s, a) that a thread of eight computes with.
__device__ __forceinline__ void read_actions(float (&action)[A][SLICES], const float* set, int lane) {
#pragma unroll
    for (int d = 0; d < A; d++)
#pragma unroll
        for (int j = 0; j < SLICES; j++) {
            const int m = M == 1 ? 0 : lane + 8 * j;
            action[d][j] = m < M ? set[d * M + m] : 0;
        }
}

__device__ __forceinline__ float square_root(float x) {
    float y;
    asm("sqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// Update a parameter as torch's fused Adam does; size is lr / (1 − β₁ᵗ), scale is 1 / √(1 − β₂ᵗ).
__device__ __forceinline__ void update(
    float& p, float& m, float& v, float grad, float size, float scale
) {
    m = fmaf(NEW_1, grad - m, m);
    v = fmaf(KEEP_2, v, NEW_2 * grad * grad);
    p -= __fdividef(size * m, fmaf(square_root(v), scale, EPSILON));
}

struct Small {  // parameters that are not H × H weights, and their moments, in shared memory
    float *p, *m, *v;
    __device__ void update_at(int k, float grad, float size, float scale) const {
        update(p[k], m[k], v[k], grad, size, scale);
    }
};

struct HeadGradient {  // by the second bias and by the head, of the numbers that a thread owns
    float w3[OUTS], b2, b3;

    __device__ __forceinline__ void add(const Head& head, const Place& place) {
#pragma unroll 4
        for (int r = 0; r < ROWS; r++) {
            const float h = head.h2[r * HS + place.unit];
#pragma unroll
            for (int k = 0; k < OUTS; k++) {
                const int o = place.group + GROUPS * k;
                if (o < O) w3[k] = fmaf(h, head.by_head[r * O + o], w3[k]);
            }
        }
        if (place.group == 0)
#pragma unroll 4
            for (int r = 0; r < ROWS; r++) b2 += head.g2[r * HS + place.unit];
        if (place.id >= TEAM - O)
#pragma unroll 4
            for (int r = 0; r < ROWS; r++) b3 += head.by_head[r * O + place.id - (TEAM - O)];
    }

    // `at` is where the second bias lies among the small parameters; the head follows it.
    __device__ __forceinline__ void apply(
        const Small& small, int at, float size, float scale, const Place& place
    ) const {
        if (place.group == 0) small.update_at(at + place.unit, b2, size, scale);
#pragma unroll
        for (int k = 0; k < OUTS; k++) {
            const int o = place.group + GROUPS * k;
            if (o < O) small.update_at(at + H + place.unit * O + o, w3[k], size, scale);
        }
        if (place.id >= TEAM - O)
            small.update_at(at + H + H * O + place.id - (TEAM - O), b3, size, scale);
    }
};
