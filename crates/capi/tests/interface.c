/* Uses every function of the interface, rightly and wrongly. Exit status 0: everything is as the header says. */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <warpmp.h>

#define EXPECT(condition)                                                                     \
    do {                                                                                      \
        if (!(condition)) {                                                                   \
            printf("line %d: %s; last error: %s\n", __LINE__, #condition, warpmp_last_error()); \
            exit(1);                                                                          \
        }                                                                                     \
    } while (0)

#define SAYS(words) EXPECT(strstr(warpmp_last_error(), words) != NULL)

static warpmp_batch *batch_of(const uint64_t *limbs, size_t lanes, size_t bits) {
    warpmp_batch *batch = NULL;
    EXPECT(warpmp_batch_from_limbs64(limbs, lanes, bits, &batch) == WARPMP_OK);
    return batch;
}

static void sessions(void) {
    warpmp_session *session = NULL;
    EXPECT(warpmp_session_open(NULL, &session) == WARPMP_BAD_ARGUMENT);
    SAYS("`engine` is a null pointer");
    EXPECT(warpmp_session_open("cpu", NULL) == WARPMP_BAD_ARGUMENT);
    EXPECT(warpmp_session_open("gpu", &session) == WARPMP_BAD_ARGUMENT);
    SAYS("there is no engine 'gpu'");
    EXPECT(warpmp_session_open("cuda:x", &session) == WARPMP_BAD_ARGUMENT);
    EXPECT(warpmp_session_open("\xff", &session) == WARPMP_BAD_ARGUMENT);
    EXPECT(warpmp_session_open("cuda:999", &session) == WARPMP_DEVICE_FAILED);
    EXPECT(session == NULL);
    EXPECT(warpmp_session_engine(NULL) == NULL);
    EXPECT(warpmp_session_wait(NULL) == WARPMP_BAD_ARGUMENT);
    warpmp_session_close(NULL);
}

static void batches(void) {
    const uint64_t limbs[4] = {1, 2, 3, 1};
    warpmp_batch *batch = NULL;
    EXPECT(warpmp_batch_from_limbs64(limbs, 2, 0, &batch) == WARPMP_BAD_ARGUMENT);
    EXPECT(warpmp_batch_from_limbs64(NULL, 2, 65, &batch) == WARPMP_BAD_ARGUMENT);
    EXPECT(warpmp_batch_from_limbs64(limbs, 2, 65, NULL) == WARPMP_BAD_ARGUMENT);
    EXPECT(warpmp_batch_from_limbs64(limbs, SIZE_MAX, SIZE_MAX, &batch) == WARPMP_BAD_ARGUMENT);
    EXPECT(warpmp_batch_from_limbs64(NULL, SIZE_MAX / 64, 128, &batch) == WARPMP_BAD_ARGUMENT);
    EXPECT(warpmp_batch_from_limbs64(limbs, 2, 65, &batch) == WARPMP_BAD_ARGUMENT);
    SAYS("lane 0 does not fit in 65 bits");
    /* 96 bits are two limbs of 64: the upper half of the second must be zero. */
    const uint64_t high[4] = {0, 0, 0, UINT64_C(1) << 32};
    EXPECT(warpmp_batch_from_limbs64(high, 2, 96, &batch) == WARPMP_BAD_ARGUMENT);
    SAYS("lane 1 does not fit in 96 bits");
    EXPECT(batch == NULL);

    EXPECT(warpmp_batch_from_limbs64(limbs, 2, 96, &batch) == WARPMP_OK);
    EXPECT(warpmp_batch_lanes(batch) == 2 && warpmp_batch_bits(batch) == 96);
    EXPECT(warpmp_batch_device_pointer(batch) == NULL);
    uint32_t words[6];
    EXPECT(warpmp_batch_to_limbs32(NULL, batch, words, 5) == WARPMP_BAD_ARGUMENT);
    SAYS("6 limbs of 32 bits; there is room for 5");
    EXPECT(warpmp_batch_to_limbs32(NULL, batch, NULL, 6) == WARPMP_BAD_ARGUMENT);
    EXPECT(warpmp_batch_to_limbs32(NULL, NULL, words, 6) == WARPMP_BAD_ARGUMENT);
    EXPECT(warpmp_batch_to_limbs32(NULL, batch, words, 6) == WARPMP_OK);
    const uint32_t expected[6] = {1, 0, 2, 3, 0, 1};
    EXPECT(memcmp(words, expected, sizeof words) == 0);
    warpmp_batch *same = NULL;
    EXPECT(warpmp_batch_from_limbs32(words, 2, 96, &same) == WARPMP_OK);
    uint64_t back[4];
    EXPECT(warpmp_batch_to_limbs64(NULL, same, back, 4) == WARPMP_OK);
    EXPECT(memcmp(back, limbs, sizeof back) == 0);
    warpmp_batch_free(same);
    warpmp_batch_free(batch);
    warpmp_batch_free(NULL);
    EXPECT(warpmp_batch_lanes(NULL) == 0 && warpmp_batch_bits(NULL) == 0);
    EXPECT(warpmp_batch_device_pointer(NULL) == NULL);

    EXPECT(warpmp_batch_from_limbs32(NULL, 0, 96, &batch) == WARPMP_OK);
    EXPECT(warpmp_batch_lanes(batch) == 0);
    EXPECT(warpmp_batch_to_limbs64(NULL, batch, NULL, 0) == WARPMP_OK);
    warpmp_batch_free(batch);
}

static void operations(const char *engine) {
    warpmp_session *session = NULL;
    EXPECT(warpmp_session_open(engine, &session) == WARPMP_OK);
    EXPECT(strlen(warpmp_session_engine(session)) > 0);
    const uint64_t ones[3] = {UINT64_MAX, 7, 0}, others[3] = {UINT64_MAX, 3, 0};
    warpmp_batch *a = batch_of(ones, 3, 64), *b = batch_of(others, 3, 64);
    const warpmp_batch *pair[2] = {a, b};

    EXPECT(warpmp_operation_results("mul") == 1 && !warpmp_operation_has_statuses("mul"));
    EXPECT(warpmp_operation_results("div-rem") == 3 && warpmp_operation_has_statuses("div-rem"));
    EXPECT(warpmp_operation_results("multiply") == 0 && warpmp_operation_results(NULL) == 0);
    EXPECT(!warpmp_operation_has_statuses(NULL));

    warpmp_batch *out[3] = {NULL, NULL, NULL};
    EXPECT(warpmp_apply(NULL, "mul", 0, pair, 2, out, 1) == WARPMP_BAD_ARGUMENT);
    EXPECT(warpmp_apply(session, "multiply", 0, pair, 2, out, 1) == WARPMP_BAD_ARGUMENT);
    SAYS("there is no operation 'multiply'");
    EXPECT(warpmp_apply(session, "mul", 0, pair, 1, out, 1) == WARPMP_BAD_ARGUMENT);
    EXPECT(warpmp_apply(session, "mul", 0, pair, 2, out, 2) == WARPMP_BAD_ARGUMENT);
    EXPECT(warpmp_apply(session, "mul", 0, NULL, 2, out, 1) == WARPMP_BAD_ARGUMENT);
    EXPECT(warpmp_apply(session, "mul", 0, pair, 2, NULL, 1) == WARPMP_BAD_ARGUMENT);
    const warpmp_batch *hole[2] = {a, NULL};
    EXPECT(warpmp_apply(session, "mul", 0, hole, 2, out, 1) == WARPMP_BAD_ARGUMENT);
    EXPECT(out[0] == NULL);

    EXPECT(warpmp_apply(session, "mul", 0, pair, 2, out, 1) == WARPMP_OK);
    EXPECT(warpmp_batch_bits(out[0]) == 128);
    uint64_t product[6];
    EXPECT(warpmp_batch_to_limbs64(session, out[0], product, 6) == WARPMP_OK);
    const uint64_t products[6] = {1, UINT64_MAX - 1, 21, 0, 0, 0};
    EXPECT(memcmp(product, products, sizeof product) == 0);
    warpmp_batch_free(out[0]);

    /* The same where the engine computes, and a chain: (a * b) >> 64, then its remainders. */
    warpmp_batch *there[2] = {NULL, NULL}, *shifted = NULL;
    EXPECT(warpmp_batch_upload(session, a, &there[0]) == WARPMP_OK);
    EXPECT(warpmp_batch_upload(session, b, &there[1]) == WARPMP_OK);
    EXPECT(warpmp_batch_upload(session, there[1], &there[1]) == WARPMP_BAD_ARGUMENT);
    EXPECT(warpmp_batch_upload(session, NULL, &there[1]) == WARPMP_BAD_ARGUMENT);
    const warpmp_batch *mixed[2] = {a, there[1]};
    EXPECT(warpmp_apply(session, "mul", 0, mixed, 2, out, 1) == WARPMP_BAD_ARGUMENT);
    SAYS("upload them all");
    EXPECT(warpmp_apply(session, "mul", 0, (const warpmp_batch *const *)there, 2, out, 1) == WARPMP_OK);
    EXPECT(warpmp_session_wait(session) == WARPMP_OK);
    const warpmp_batch *chained[1] = {out[0]};
    EXPECT(warpmp_apply(session, "shr", 64, chained, 1, &shifted, 1) == WARPMP_OK);
    EXPECT(warpmp_batch_to_limbs64(NULL, shifted, product, 6) == WARPMP_BAD_ARGUMENT);
    EXPECT(warpmp_batch_to_limbs64(session, shifted, product, 6) == WARPMP_OK);
    EXPECT(product[0] == UINT64_MAX - 1 && product[1] == 0);
    warpmp_batch_free(out[0]);
    const warpmp_batch *divided[2] = {there[0], there[1]};
    EXPECT(warpmp_apply(session, "div_rem", 0, divided, 2, out, 3) == WARPMP_OK);
    uint32_t status[3];
    EXPECT(warpmp_batch_to_limbs32(session, out[2], status, 3) == WARPMP_OK);
    EXPECT(status[0] == 0 && status[1] == 0 && status[2] != 0);
    EXPECT(strcmp(warpmp_status_text(0), "fine") == 0);
    EXPECT(strcmp(warpmp_status_text(status[2]), "division by zero") == 0);
    EXPECT(warpmp_status_text(12345) == NULL);
    uint64_t quotient[3];
    EXPECT(warpmp_batch_to_limbs64(session, out[0], quotient, 3) == WARPMP_OK);
    EXPECT(quotient[0] == 1 && quotient[1] == 2 && quotient[2] == 0);
    for (int i = 0; i < 3; i++) {
        warpmp_batch_free(out[i]);
    }
    warpmp_batch *room = NULL;
    EXPECT(warpmp_batch_reserve(session, 5, 0, &room) == WARPMP_BAD_ARGUMENT);
    EXPECT(warpmp_batch_reserve(session, 5, 100, &room) == WARPMP_OK);
    EXPECT(warpmp_batch_lanes(room) == 5 && warpmp_batch_bits(room) == 100);
    warpmp_batch_free(room);
    warpmp_batch_free(shifted);
    warpmp_batch_free(there[0]);
    warpmp_batch_free(there[1]);

    /* A batch of another engine, and no lanes at all. */
    warpmp_session *other = NULL;
    EXPECT(warpmp_session_open("sim", &other) == WARPMP_OK);
    warpmp_batch *foreign = NULL;
    EXPECT(warpmp_batch_upload(other, a, &foreign) == WARPMP_OK);
    EXPECT(warpmp_batch_to_limbs64(session, foreign, product, 6) == WARPMP_BAD_ARGUMENT);
    warpmp_batch_free(foreign);
    warpmp_session_close(other);
    warpmp_batch *empty = batch_of(NULL, 0, 64);
    const warpmp_batch *nothing[2] = {empty, empty};
    EXPECT(warpmp_apply(session, "mul", 0, nothing, 2, out, 1) == WARPMP_OK);
    EXPECT(warpmp_batch_lanes(out[0]) == 0 && warpmp_batch_bits(out[0]) == 128);
    warpmp_batch_free(out[0]);
    warpmp_batch_free(empty);
    warpmp_batch_free(a);
    warpmp_batch_free(b);
    warpmp_session_close(session);
}

/* Memory of a GPU that the library does not manage: here that of another batch. */
static void device_memory(const char *engine) {
    warpmp_session *session = NULL;
    EXPECT(warpmp_session_open(engine, &session) == WARPMP_OK);
    /* 96 bits: three limbs of 32 bits, two of 64. */
    const uint64_t limbs[6] = {1, 2, 3, UINT32_MAX, UINT64_MAX, 5};
    warpmp_batch *a = batch_of(limbs, 3, 96), *there = NULL, *room = NULL, *back = NULL;
    EXPECT(warpmp_batch_upload(session, a, &there) == WARPMP_OK);
    /* Memory full of ones: words that a copy leaves as they were are seen. */
    const uint64_t ones[6] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    warpmp_batch *full = batch_of(ones, 3, 128), *empty = batch_of(NULL, 0, 96), *nothing = NULL;
    EXPECT(warpmp_batch_upload(session, full, &room) == WARPMP_OK);
    EXPECT(warpmp_batch_upload(session, empty, &nothing) == WARPMP_OK);
    void *pointer = warpmp_batch_device_pointer(room);
    EXPECT(warpmp_batch_to_device64(session, a, &pointer, 6) == WARPMP_BAD_ARGUMENT);
    SAYS("the batch is on the host");
    EXPECT(warpmp_batch_to_device64(session, there, &pointer, 5) == WARPMP_BAD_ARGUMENT);
    SAYS("6 limbs of 64 bits; there is room for 5");
    EXPECT(warpmp_batch_to_device32(session, NULL, &pointer, 9) == WARPMP_BAD_ARGUMENT);
    EXPECT(warpmp_batch_from_device32(NULL, &pointer, 3, 96, &back) == WARPMP_BAD_ARGUMENT);
    EXPECT(warpmp_batch_from_device32(session, &pointer, 3, 0, &back) == WARPMP_BAD_ARGUMENT);
    EXPECT(warpmp_batch_from_device32(session, &pointer, 3, 96, NULL) == WARPMP_BAD_ARGUMENT);
    if (pointer == NULL) {
        EXPECT(warpmp_batch_to_device64(session, there, &pointer, 6) == WARPMP_BAD_ARGUMENT);
        SAYS("computes on no GPU");
        EXPECT(warpmp_batch_from_device64(session, &pointer, 3, 96, &back) == WARPMP_BAD_ARGUMENT);
        SAYS("computes on no GPU");
        EXPECT(warpmp_batch_to_device64(session, nothing, NULL, 0) == WARPMP_BAD_ARGUMENT);
        EXPECT(warpmp_batch_from_device64(session, NULL, 0, 96, &back) == WARPMP_BAD_ARGUMENT);
    } else {
        EXPECT(warpmp_batch_to_device64(session, there, NULL, 6) == WARPMP_BAD_ARGUMENT);
        SAYS("`pointer` is a null pointer");
        EXPECT(warpmp_batch_from_device64(session, (char *)pointer + 1, 1, 96, &back) == WARPMP_BAD_ARGUMENT);
        SAYS("not aligned");
        EXPECT(warpmp_batch_to_device32(session, room, (char *)pointer + 16, 12) == WARPMP_BAD_ARGUMENT);
        SAYS("within the memory of the batch itself");
        EXPECT(warpmp_batch_to_device64(session, nothing, NULL, 0) == WARPMP_OK);
        EXPECT(warpmp_batch_from_device32(session, NULL, 0, 96, &back) == WARPMP_OK);
        EXPECT(warpmp_batch_lanes(back) == 0 && warpmp_batch_bits(back) == 96);
        warpmp_batch_free(back);
        uint64_t found[6];
        EXPECT(warpmp_batch_to_device64(session, there, pointer, 6) == WARPMP_OK);
        EXPECT(warpmp_batch_to_limbs64(session, room, found, 6) == WARPMP_OK);
        EXPECT(memcmp(found, limbs, sizeof found) == 0);
        EXPECT(warpmp_batch_from_device64(session, pointer, 3, 96, &back) == WARPMP_OK);
        EXPECT(warpmp_batch_to_limbs64(session, back, found, 6) == WARPMP_OK);
        EXPECT(memcmp(found, limbs, sizeof found) == 0);
        warpmp_batch_free(back);
        EXPECT(warpmp_batch_to_device32(session, there, pointer, 9) == WARPMP_OK);
        EXPECT(warpmp_batch_from_device32(session, pointer, 3, 96, &back) == WARPMP_OK);
        EXPECT(warpmp_batch_to_limbs64(session, back, found, 6) == WARPMP_OK);
        EXPECT(memcmp(found, limbs, sizeof found) == 0);
        warpmp_batch_free(back);
    }
    warpmp_batch_free(a);
    warpmp_batch_free(there);
    warpmp_batch_free(room);
    warpmp_batch_free(full);
    warpmp_batch_free(empty);
    warpmp_batch_free(nothing);
    warpmp_session_close(session);
}

/* The threads share a session and their operands. */
struct shared {
    const warpmp_session *session;
    const warpmp_batch *operand;
};

static void *square(void *argument) {
    const struct shared *shared = argument;
    for (int round = 0; round < 20; round++) {
        warpmp_batch *out = NULL;
        EXPECT(warpmp_apply(shared->session, "sqr", 0, &shared->operand, 1, &out, 1) == WARPMP_OK);
        uint64_t limbs[4];
        EXPECT(warpmp_batch_to_limbs64(shared->session, out, limbs, 4) == WARPMP_OK);
        EXPECT(limbs[0] == 1 && limbs[1] == UINT64_MAX - 1 && limbs[2] == 49);
        warpmp_batch_free(out);
        EXPECT(warpmp_operation_results("none") == 0);
    }
    return NULL;
}

static void threads(void) {
    warpmp_session *session = NULL;
    EXPECT(warpmp_session_open("cpu", &session) == WARPMP_OK);
    const uint64_t limbs[2] = {UINT64_MAX, 7};
    warpmp_batch *operand = batch_of(limbs, 2, 64);
    struct shared shared = {session, operand};
    pthread_t ids[4];
    for (int i = 0; i < 4; i++) {
        EXPECT(pthread_create(&ids[i], NULL, square, &shared) == 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(ids[i], NULL);
    }
    warpmp_batch_free(operand);
    warpmp_session_close(session);
}

int main(int count, char **arguments) {
    if (count > 1) {
        operations(arguments[1]);
        device_memory(arguments[1]);
        return 0;
    }
    EXPECT(strlen(warpmp_version()) >= 5);
    EXPECT(strcmp(warpmp_last_error(), "") == 0);
    sessions();
    batches();
    operations("cpu");
    operations("sim");
    device_memory("cpu");
    device_memory("sim");
    threads();
    return 0;
}
