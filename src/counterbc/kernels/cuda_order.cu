// The pairs of a block of steps: the lists of all networks in the order of each epoch.
//
// A block of THREADS threads orders one epoch of one network by the hashed keys of its pairs, as
// data/draws.py defines them. A pair's place is the number of smaller keys, where the first of two
// equal keys counts as the smaller one. WIDTH is a multiple of THREADS that no list exceeds.

#define OWN (WIDTH / THREADS)  // pairs of a thread

typedef long long index_t;
typedef unsigned long long word_t;

__device__ __forceinline__ index_t mixed(word_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return (index_t)(x ^ (x >> 31));
}

// `row` holds the key of each epoch, (networks, epochs); the steps begin at `offset` of the first.
// Position and epoch are (steps, networks, batch), and total is steps · batch.
extern "C" __global__ void __launch_bounds__(THREADS) draw_order(
    const index_t* row, const index_t* start, const index_t* offset, const index_t* lengths,
    index_t* position, index_t* epoch, int epochs, int networks, int batch, int total
) {
    __shared__ index_t keys[WIDTH];
    const int n = blockIdx.x / epochs, k = blockIdx.x % epochs, id = threadIdx.x;
    const int length = (int)lengths[n];
    const index_t before = (index_t)k * length - offset[n];
    if (before >= total || before + length <= 0) return;
    index_t own[OWN];
    int rank[OWN] = {};
#pragma unroll
    for (int c = 0; c < OWN; c++) {
        const int i = id + THREADS * c;
        own[c] = mixed((word_t)row[blockIdx.x] + (word_t)(i + 1) * 0x9E3779B97F4A7C15ull);
        keys[i] = i < length ? own[c] : 0x7FFFFFFFFFFFFFFFll;
    }
    __syncthreads();
#pragma unroll
    for (int d = 0; d < OWN; d++)
#pragma unroll 4
        for (int j = 0; j < THREADS; j++) {
            const index_t key = keys[THREADS * d + j];
#pragma unroll
            for (int c = 0; c < OWN; c++)
                rank[c] += key < own[c] + (d < c || (d == c && j < id));
        }
#pragma unroll
    for (int c = 0; c < OWN; c++) {
        const index_t t = before + rank[c];
        if (id + THREADS * c >= length || t < 0 || t >= total) continue;
        const index_t at = (t / batch * networks + n) * batch + t % batch;
        position[at] = id + THREADS * c, epoch[at] = start[n] + k;
    }
}
