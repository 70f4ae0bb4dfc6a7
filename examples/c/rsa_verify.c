/* RSA signatures checked in bulk: reads lines "modulus signature message" in hexadecimal and prints the numbers of the
 * lines whose signature is wrong. The public exponent is 65537; "message" is the number that was signed, with its padding.
 *
 *     cc -o rsa_verify rsa_verify.c $(pkg-config --cflags --libs warpmp)
 *     ./rsa_verify signatures.txt
 *
 * All powers are computed by one call, and are compared where they are computed. Exit status: 0 all signatures
 * are right, 1 some are wrong, 2 an error. */

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <warpmp.h>

enum { BITS = 4096, LIMBS = BITS / 32, FIELDS = 3 };

static void fail(const char *what) {
    fprintf(stderr, "rsa_verify: %s\n", what);
    exit(2);
}

static void check(warpmp_code code) {
    if (code != WARPMP_OK) {
        fail(warpmp_last_error());
    }
}

/* Reads hexadecimal digits into limbs. Returns 0 if the text is no number of at most BITS bits. */
static int parse(const char *text, uint32_t *limbs) {
    size_t length = strlen(text);
    memset(limbs, 0, LIMBS * sizeof *limbs);
    if (length == 0 || length > BITS / 4) {
        return 0;
    }
    for (size_t i = 0; i < length; i++) {
        unsigned char digit = (unsigned char)text[length - 1 - i];
        if (!isxdigit(digit)) {
            return 0;
        }
        uint32_t value = (uint32_t)(isdigit(digit) ? digit - '0' : tolower(digit) - 'a' + 10);
        limbs[i / 8] |= value << (4 * (i % 8));
    }
    return 1;
}

/* The three columns of a file, as limbs. */
struct table {
    uint32_t *columns[FIELDS];
    unsigned long *lines; /* the number of each line in the file */
    size_t count;
};

static void grow(struct table *table, size_t room) {
    for (int i = 0; i < FIELDS; i++) {
        table->columns[i] = realloc(table->columns[i], room * LIMBS * sizeof(uint32_t));
        if (!table->columns[i]) {
            fail("there is no memory left");
        }
    }
    table->lines = realloc(table->lines, room * sizeof *table->lines);
    if (!table->lines) {
        fail("there is no memory left");
    }
}

static struct table read_table(const char *path) {
    struct table table = {{NULL, NULL, NULL}, NULL, 0};
    size_t room = 0;
    FILE *file = fopen(path, "r");
    if (!file) {
        perror(path);
        exit(2);
    }
    static char line[FIELDS * (BITS / 4 + 2)];
    for (unsigned long number = 1; fgets(line, sizeof line, file); number++) {
        if (line[0] == '#' || line[0] == '\n') {
            continue;
        }
        if (table.count == room) {
            grow(&table, room = room ? 2 * room : 64);
        }
        char *word = strtok(line, " \t\r\n");
        for (int i = 0; i < FIELDS; i++, word = strtok(NULL, " \t\r\n")) {
            if (!word || !parse(word, table.columns[i] + table.count * LIMBS)) {
                fprintf(stderr, "%s:%lu: a line is three hexadecimal numbers of at most %d bits\n", path, number, BITS);
                exit(2);
            }
        }
        table.lines[table.count++] = number;
    }
    fclose(file);
    return table;
}

/* Limbs of the longest number. */
static size_t longest(const struct table *table) {
    size_t limbs = 1;
    for (int i = 0; i < FIELDS; i++) {
        for (size_t j = 0; j < table->count; j++) {
            const uint32_t *row = table->columns[i] + j * LIMBS;
            size_t length = LIMBS;
            while (length > limbs && row[length - 1] == 0) {
                length--;
            }
            limbs = length;
        }
    }
    return limbs;
}

/* The numbers of a column where the session computes: `limbs` limbs of each. */
static warpmp_batch *upload(const warpmp_session *session, const uint32_t *column, size_t lanes, size_t limbs) {
    uint32_t *rows = malloc((lanes + 1) * limbs * sizeof *rows);
    if (!rows) {
        fail("there is no memory left");
    }
    for (size_t i = 0; i < lanes; i++) {
        memcpy(rows + i * limbs, column + i * LIMBS, limbs * sizeof *rows);
    }
    warpmp_batch *host = NULL, *there = NULL;
    check(warpmp_batch_from_limbs32(rows, lanes, 32 * limbs, &host));
    check(warpmp_batch_upload(session, host, &there));
    warpmp_batch_free(host);
    free(rows);
    return there;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fail("usage: rsa_verify FILE");
    }
    struct table table = read_table(argv[1]);
    size_t lanes = table.count, limbs = longest(&table);
    warpmp_session *session = NULL;
    check(warpmp_session_open("auto", &session));

    const uint32_t exponent = 65537; /* one lane serves all */
    warpmp_batch *modulus = upload(session, table.columns[0], lanes, limbs);
    warpmp_batch *signature = upload(session, table.columns[1], lanes, limbs);
    warpmp_batch *message = upload(session, table.columns[2], lanes, limbs);
    warpmp_batch *e = upload(session, &exponent, 1, 1);
    const warpmp_batch *power_of[3] = {signature, e, modulus};
    warpmp_batch *power[2] = {NULL, NULL}; /* the powers and their statuses */
    check(warpmp_apply(session, "pow_mod", 0, power_of, 3, power, 2));
    const warpmp_batch *compared[2] = {power[0], message};
    warpmp_batch *order = NULL;
    check(warpmp_apply(session, "cmp", 0, compared, 2, &order, 1));

    uint32_t *orders = calloc(lanes + 1, sizeof *orders), *status = calloc(lanes + 1, sizeof *status);
    if (!orders || !status) {
        fail("there is no memory left");
    }
    check(warpmp_batch_to_limbs32(session, order, orders, lanes));
    check(warpmp_batch_to_limbs32(session, power[1], status, lanes));
    size_t wrong = 0;
    for (size_t i = 0; i < lanes; i++) {
        if (status[i] != 0) {
            printf("%s:%lu: %s\n", argv[1], table.lines[i], warpmp_status_text(status[i]));
        } else if (orders[i] != 0) {
            printf("%s:%lu: the signature is wrong\n", argv[1], table.lines[i]);
        }
        wrong += status[i] != 0 || orders[i] != 0;
    }
    fprintf(stderr, "%zu signatures, %zu wrong, by %s\n", lanes, wrong, warpmp_session_engine(session));

    warpmp_batch *all[] = {modulus, signature, message, e, power[0], power[1], order};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        warpmp_batch_free(all[i]);
    }
    warpmp_session_close(session);
    free(orders);
    free(status);
    free(table.lines);
    for (int i = 0; i < FIELDS; i++) {
        free(table.columns[i]);
    }
    return wrong > 0;
}
