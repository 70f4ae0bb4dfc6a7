/* WarpMP: arithmetic on many big integers at once, on NVIDIA GPUs and on CPUs.
 *
 * Made from crates/capi/src by cbindgen. Do not edit. Licence: MIT OR Apache-2.0.
 *
 * A batch has `lanes` unsigned integers of `bits` bits each: lanes x ceil(bits / 32) limbs of 32 bits, or lanes x
 * ceil(bits / 64) limbs of 64 bits, least significant limb first, lanes one after the other. Bits of the top limb above
 * `bits` must be zero. Results that can be negative are two's complements of their width.
 *
 * Every function that can fail returns a warpmp_code. On failure it changes none of its output parameters, and
 * warpmp_last_error() has the reason in English. Threads may share sessions and batches; a batch must not be freed while
 * another thread uses it. */

#ifndef WARPMP_H
#define WARPMP_H

#include <stddef.h>
#include <stdint.h>

/**
 * How a call ended.
 */
typedef enum {
    /**
     * All is well.
     */
    WARPMP_OK = 0,
    /**
     * An argument is wrong: a null pointer, a shape, a name, a number of operands. Nothing was computed.
     */
    WARPMP_BAD_ARGUMENT = 1,
    /**
     * Operands and results do not fit in memory.
     */
    WARPMP_OUT_OF_MEMORY = 2,
    /**
     * The device is not there, or it failed.
     */
    WARPMP_DEVICE_FAILED = 3,
    /**
     * A fault of the library. Please report it, with the text of the error.
     */
    WARPMP_INTERNAL = 4,
} warpmp_code;

/**
 * Unsigned integers of one width, one a lane, on the host or on a session's device.
 */
typedef struct warpmp_batch warpmp_batch;

/**
 * An engine made ready: a GPU, its simulator, or all cores of the CPU.
 */
typedef struct warpmp_session warpmp_session;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The text of the last error of this thread; empty if there was none. It is valid until the next call of this thread
 * that fails.
 */
const char *warpmp_last_error(void);

/**
 * The version of the library, such as "0.1.0". The text is never freed.
 */
const char *warpmp_version(void);

/**
 * Opens an engine.
 *
 * `engine` is "auto" (the first usable GPU, else the CPU), "cpu", "cuda" (the first usable GPU), "cuda:0", "cuda:1", ...,
 * or "sim" (the simulator, for tests). `*out` is to be closed by warpmp_session_close.
 *
 * Errors: WARPMP_BAD_ARGUMENT for another name; WARPMP_DEVICE_FAILED if the GPU cannot be used.
 */
warpmp_code warpmp_session_open(const char *engine,
                                warpmp_session **out);

/**
 * Closes a session; NULL is allowed. Batches on its device stay valid until they are freed.
 */
void warpmp_session_close(warpmp_session *session);

/**
 * The name of the session's engine, for people; NULL for NULL. It is valid as long as the session.
 */
const char *warpmp_session_engine(const warpmp_session *session);

/**
 * Waits until all work of the session is done. Operations on batches of a GPU are queued; call this before other
 * libraries read their memory.
 *
 * Errors: WARPMP_DEVICE_FAILED, also of operations that were queued before.
 */
warpmp_code warpmp_session_wait(const warpmp_session *session);

/**
 * Makes a batch on the host, a copy of lanes x ceil(bits / 32) limbs of 32 bits.
 *
 * `lanes` may be 0; then `limbs` may be NULL. `*out` is to be freed by warpmp_batch_free.
 *
 * Errors: WARPMP_BAD_ARGUMENT if `bits` is 0 or a lane has bits above its width, with the number of the lane;
 * WARPMP_OUT_OF_MEMORY.
 */
warpmp_code warpmp_batch_from_limbs32(const uint32_t *limbs, size_t lanes, size_t bits, warpmp_batch **out);

/**
 * As warpmp_batch_from_limbs32, from lanes x ceil(bits / 64) limbs of 64 bits.
 */
warpmp_code warpmp_batch_from_limbs64(const uint64_t *limbs, size_t lanes, size_t bits, warpmp_batch **out);

/**
 * Writes lanes x ceil(bits / 32) limbs of 32 bits to `limbs`, which has room for `capacity` limbs.
 *
 * For a batch on a device, `session` is its session, and the call waits for the operations before. For a batch on the
 * host `session` may be NULL.
 *
 * Errors: WARPMP_BAD_ARGUMENT if `capacity` is too small or the batch is another session's; WARPMP_DEVICE_FAILED.
 */
warpmp_code warpmp_batch_to_limbs32(const warpmp_session *session,
                                    const warpmp_batch *batch,
                                    uint32_t *limbs,
                                    size_t capacity);

/**
 * As warpmp_batch_to_limbs32, as lanes x ceil(bits / 64) limbs of 64 bits.
 */
warpmp_code warpmp_batch_to_limbs64(const warpmp_session *session,
                                    const warpmp_batch *batch,
                                    uint64_t *limbs,
                                    size_t capacity);

/**
 * Copies a batch from the host to the session's device. There, operations chain without transfers.
 *
 * Errors: WARPMP_BAD_ARGUMENT if the batch is not on the host; WARPMP_OUT_OF_MEMORY; WARPMP_DEVICE_FAILED.
 */
warpmp_code warpmp_batch_upload(const warpmp_session *session, const warpmp_batch *batch, warpmp_batch **out);

/**
 * Makes a batch on the session's device whose integers are not defined: for kernels and libraries that write to
 * warpmp_batch_device_pointer.
 *
 * Errors: WARPMP_BAD_ARGUMENT if `bits` is 0; WARPMP_OUT_OF_MEMORY; WARPMP_DEVICE_FAILED.
 */
warpmp_code warpmp_batch_reserve(const warpmp_session *session,
                                 size_t lanes,
                                 size_t bits,
                                 warpmp_batch **out);

/**
 * Frees a batch; NULL is allowed.
 */
void warpmp_batch_free(warpmp_batch *batch);

/**
 * The number of integers; 0 for NULL.
 */
size_t warpmp_batch_lanes(const warpmp_batch *batch);

/**
 * The bits of each integer; 0 for NULL.
 */
size_t warpmp_batch_bits(const warpmp_batch *batch);

/**
 * Where a batch starts in the GPU's memory, as a CUdeviceptr: lanes x ceil(bits / 32) limbs of 32 bits, and room up to
 * the next multiple of 32 lanes, whose integers must stay zero. NULL for a batch that is not on a GPU.
 *
 * Who writes there waits for the session before (warpmp_session_wait) and for its own work after, and keeps every integer
 * below 2^bits.
 */
void *warpmp_batch_device_pointer(const warpmp_batch *batch);

/**
 * Makes a batch on the session's GPU, a copy of lanes x ceil(bits / 32) limbs of 32 bits that are on this GPU already.
 *
 * `pointer` is a CUdeviceptr in the GPU's primary context, the one that CUDA's runtime uses. The work that writes the limbs
 * must have ended before the call, and nothing may write to them during the call, which waits for the copy. Every integer
 * must be below 2^bits: nothing checks this. `lanes` may be 0; then `pointer` may be NULL. `*out` is to be freed by
 * warpmp_batch_free.
 *
 * Errors: WARPMP_BAD_ARGUMENT if the session has no GPU, `pointer` is NULL or not aligned to 4 bytes, or `bits` is 0;
 * WARPMP_OUT_OF_MEMORY; WARPMP_DEVICE_FAILED.
 */
warpmp_code warpmp_batch_from_device32(const warpmp_session *session,
                                       const void *pointer,
                                       size_t lanes,
                                       size_t bits,
                                       warpmp_batch **out);

/**
 * As warpmp_batch_from_device32, from lanes x ceil(bits / 64) limbs of 64 bits.
 */
warpmp_code warpmp_batch_from_device64(const warpmp_session *session,
                                       const void *pointer,
                                       size_t lanes,
                                       size_t bits,
                                       warpmp_batch **out);

/**
 * Writes lanes x ceil(bits / 32) limbs of 32 bits of a batch on a GPU to `pointer` on the same GPU, which has room for
 * `capacity` limbs.
 *
 * `pointer` is as for warpmp_batch_from_device32. Nothing else may use the memory during the call. The call waits for the
 * operations before and for the copy. A batch without lanes is written nowhere, and `pointer` may be NULL.
 *
 * Errors: WARPMP_BAD_ARGUMENT if `capacity` is too small, the session has no GPU, the batch is on the host or another
 * session's, or `pointer` is NULL, not aligned to 4 bytes, or within the memory of the batch itself; WARPMP_DEVICE_FAILED.
 */
warpmp_code warpmp_batch_to_device32(const warpmp_session *session,
                                     const warpmp_batch *batch,
                                     void *pointer,
                                     size_t capacity);

/**
 * As warpmp_batch_to_device32, as lanes x ceil(bits / 64) limbs of 64 bits.
 */
warpmp_code warpmp_batch_to_device64(const warpmp_session *session,
                                     const warpmp_batch *batch,
                                     void *pointer,
                                     size_t capacity);

/**
 * Does an operation on every lane: results[0] = a * b for "mul", the quotient and the remainder for "div_rem".
 *
 * The operations, their operands and results are those of the book's page "All operations". `operands` has
 * `operand_count` batches, all on the host or all on the session's device; one with a single lane serves every lane of the
 * others. `results` gets `result_count` new batches, in the same place: as many as warpmp_operation_results says. For an
 * operation with statuses the last of them has the status of each lane, a word of 32 bits: see warpmp_status_text. The
 * results of a lane at fault are zero. `constant` is the constant of operations that have one, such as the distance of a
 * shift; others take no notice.
 *
 * On the host the results are ready when the call returns. On a GPU the work is queued.
 *
 * Errors: WARPMP_BAD_ARGUMENT, WARPMP_OUT_OF_MEMORY, WARPMP_DEVICE_FAILED.
 */
warpmp_code warpmp_apply(const warpmp_session *session,
                         const char *operation,
                         uint32_t constant,
                         const warpmp_batch *const *operands,
                         size_t operand_count,
                         warpmp_batch **results,
                         size_t result_count);

/**
 * The number of batches that an operation gives, the statuses among them; 0 for a name that is no operation.
 */
size_t warpmp_operation_results(const char *operation);

/**
 * Does the operation have statuses, as its last result? 1 or 0.
 */
int32_t warpmp_operation_has_statuses(const char *operation);

/**
 * The status of a lane in words: 0 is "fine"; NULL for a number that is no status. The text is never freed.
 */
const char *warpmp_status_text(uint32_t status);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* WARPMP_H */
