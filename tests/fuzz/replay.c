/* replay.c - runs a fuzz target over the files of its corpus.
 * SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input is copied into memory of exactly its size, so that a sanitizer
 * sees every read behind its end. */
static int replay_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    uint8_t *data = NULL;
    long size;

    if (!f)
        return -1;
    if (fseek(f, 0, SEEK_END) || (size = ftell(f)) < 0 ||
        fseek(f, 0, SEEK_SET)) {
        fclose(f);
        return -1;
    }
    data = malloc(size ? (size_t)size : 1);
    if (!data || fread(data, 1, (size_t)size, f) != (size_t)size) {
        free(data);
        fclose(f);
        return -1;
    }
    fclose(f);
    LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
    return 0;
}

int main(int argc, char **argv)
{
    struct dirent *e;
    unsigned done = 0;
    DIR *dir;

    if (argc != 2 || !(dir = opendir(argv[1]))) {
        fprintf(stderr, "usage: replay CORPUS-DIRECTORY\n");
        return 2;
    }
    while ((e = readdir(dir))) {
        char path[4096];

        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "%s/%s", argv[1], e->d_name);
        if (replay_file(path)) {
            fprintf(stderr, "cannot read '%s'\n", path);
            return 1;
        }
        done++;
    }
    closedir(dir);
    printf("%u inputs replayed\n", done);
    return done ? 0 : 1;
}
