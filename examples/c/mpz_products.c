/* Products of GMP's integers: reads two files, an integer a line in decimal, and prints the products line by line.
 *
 *     cc -o mpz_products mpz_products.c $(pkg-config --cflags --libs warpmp) -lgmp
 *     ./mpz_products ../rsa/p.txt ../rsa/q.txt
 *
 * Lines that start with # are comments. One call multiplies all lines, on a GPU if there is one. */

#include <gmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <warpmp.h>

/* The integers of a file. */
struct column {
    mpz_t *numbers;
    size_t count;
    size_t bits; /* of the widest */
};

static void fail(const char *what) {
    fprintf(stderr, "mpz_products: %s\n", what);
    exit(1);
}

static void check(warpmp_code code) {
    if (code != WARPMP_OK) {
        fail(warpmp_last_error());
    }
}

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count ? count : 1, size);
    if (!memory) {
        fail("there is no memory left");
    }
    return memory;
}

static struct column read_column(const char *path) {
    struct column column = {NULL, 0, 1};
    size_t room = 0;
    FILE *file = fopen(path, "r");
    if (!file) {
        perror(path);
        exit(1);
    }
    static char line[1 << 16];
    for (unsigned long number = 1; fgets(line, sizeof line, file); number++) {
        line[strcspn(line, "\r\n")] = 0;
        if (line[0] == '#' || line[0] == 0) {
            continue;
        }
        if (column.count == room) {
            room = room ? 2 * room : 64;
            column.numbers = realloc(column.numbers, room * sizeof *column.numbers);
            if (!column.numbers) {
                fail("there is no memory left");
            }
        }
        mpz_t *here = &column.numbers[column.count++];
        if (mpz_init_set_str(*here, line, 10) != 0 || mpz_sgn(*here) < 0) {
            fprintf(stderr, "%s:%lu: not a decimal number without a sign\n", path, number);
            exit(1);
        }
        size_t bits = mpz_sizeinbase(*here, 2);
        column.bits = bits > column.bits ? bits : column.bits;
    }
    fclose(file);
    return column;
}

/* A batch with the integers of a column: each is exported to the limbs of its lane. */
static warpmp_batch *to_batch(const struct column *column) {
    size_t limbs = (column->bits + 63) / 64;
    uint64_t *words = allocate(column->count * limbs, sizeof *words);
    for (size_t i = 0; i < column->count; i++) {
        mpz_export(words + i * limbs, NULL, -1, sizeof *words, 0, 0, column->numbers[i]);
    }
    warpmp_batch *batch = NULL;
    check(warpmp_batch_from_limbs64(words, column->count, column->bits, &batch));
    free(words);
    return batch;
}

static void free_column(struct column *column) {
    for (size_t i = 0; i < column->count; i++) {
        mpz_clear(column->numbers[i]);
    }
    free(column->numbers);
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fail("usage: mpz_products A B");
    }
    struct column a = read_column(argv[1]), b = read_column(argv[2]);
    warpmp_session *session = NULL;
    check(warpmp_session_open("auto", &session));
    warpmp_batch *operands[2] = {to_batch(&a), to_batch(&b)};
    warpmp_batch *product = NULL;
    check(warpmp_apply(session, "mul", 0, (const warpmp_batch *const *)operands, 2, &product, 1));

    size_t lanes = warpmp_batch_lanes(product), limbs = (warpmp_batch_bits(product) + 63) / 64;
    uint64_t *words = allocate(lanes * limbs, sizeof *words);
    check(warpmp_batch_to_limbs64(session, product, words, lanes * limbs));
    mpz_t number;
    mpz_init(number);
    for (size_t i = 0; i < lanes; i++) {
        mpz_import(number, limbs, -1, sizeof *words, 0, 0, words + i * limbs);
        gmp_printf("%Zd\n", number);
    }
    fprintf(stderr, "%zu products by %s\n", lanes, warpmp_session_engine(session));

    mpz_clear(number);
    free(words);
    warpmp_batch_free(product);
    warpmp_batch_free(operands[0]);
    warpmp_batch_free(operands[1]);
    warpmp_session_close(session);
    free_column(&a);
    free_column(&b);
    return 0;
}
