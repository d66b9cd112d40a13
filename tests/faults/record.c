/* A library to preload: it records in the file named by FAULTS_LOG, if any, in order, all that a program does to the
   files below the directory FAULTS_ROOT. With FAULTS_FAIL, "n errno lasting", the n-th operation there from then on fails
   with that errno; if lasting is 1, so do all that follow, but those that only close or delete. With errno 0 the program
   is killed there, after so many sixteenths of the bytes as `lasting` says if the operation is a write. A record is an operation (one character), a file descriptor, an offset, and two
   texts or byte strings with their lengths, all numbers with 8 bytes. The record is written once the operation has
   succeeded, under one lock, so that the log has the order in which the kernel saw them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(type, name, ...) ((type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char watched[4096]; /* by descriptor, whether it is a file or directory below the root */

static const char *root(void) { return getenv("FAULTS_ROOT"); }

static int below(const char *path, char *whole) {
    if (!root() || !path) return 0;
    if (path[0] == '/') snprintf(whole, PATH_MAX, "%s", path);
    else {
        char here[PATH_MAX];
        if (!getcwd(here, sizeof here)) return 0;
        snprintf(whole, PATH_MAX, "%s/%s", here, path);
    }
    return strncmp(whole, root(), strlen(root())) == 0;
}

static void put(const void *bytes, size_t n) {
    static int log_fd = -1;
    if (!getenv("FAULTS_LOG")) return;
    if (log_fd < 0) {
        log_fd = syscall(SYS_openat, AT_FDCWD, getenv("FAULTS_LOG"), O_WRONLY | O_CREAT | O_APPEND, 0600);
        if (log_fd < 0) abort();
        log_fd = fcntl(log_fd, F_DUPFD, 1000);
    }
    for (size_t done = 0; done < n;) {
        long m = syscall(SYS_write, log_fd, (const char *)bytes + done, n - done);
        if (m <= 0) abort();
        done += m;
    }
}

static void note(char operation, long fd, long offset, const void *first, size_t n, const char *second) {
    long head[5] = {operation, fd, offset, (long)n, second ? (long)strlen(second) : 0};
    put(head, sizeof head);
    put(first, n);
    if (second) put(second, head[4]);
}

static int killed_at_write(const char *order) {
    long at = 0, number = 0;
    return order && sscanf(order, "%ld %ld", &at, &number) == 2 && number == 0;
}

static void torn(int fd, const void *bytes, size_t n, off64_t offset) { /* write a part, and end the program */
    long share = 0;
    sscanf(getenv("FAULTS_FAIL"), "%*d %*d %ld", &share);
    size_t part = n * share / 16;
    if (part > 4096) part -= part % 4096;
    if (part) syscall(SYS_pwrite64, fd, bytes, part, offset);
    kill(getpid(), SIGKILL);
}

static int failing(int watch, int deletes, int writes) {
    static long count;
    long at = 0, number = 0, lasting = 0;
    const char *order = getenv("FAULTS_FAIL");
    if (!watch || !order || sscanf(order, "%ld %ld %ld", &at, &number, &lasting) < 3) return 0;
    count++;
    if (number == 0 && count == at && !writes) kill(getpid(), SIGKILL);
    if (count != at && !(number && lasting && !deletes && count > at)) return 0;
    errno = (int)number;
    return 1;
}

static int is_watched(int fd) { return fd >= 0 && fd < (int)sizeof watched && watched[fd]; }

static int opened(int fd, const char *path, int flags) {
    char whole[PATH_MAX];
    if (fd >= 0 && fd < (int)sizeof watched && (watched[fd] = below(path, whole)))
        note('o', fd, flags, whole, strlen(whole), NULL);
    return fd;
}

#define OPEN(name, real, before, arguments)                                                        \
    int name before {                                                                              \
        mode_t mode = 0;                                                                           \
        if (flags & (O_CREAT | O_TMPFILE)) {                                                       \
            va_list rest;                                                                          \
            va_start(rest, flags);                                                                 \
            mode = va_arg(rest, mode_t);                                                           \
            va_end(rest);                                                                          \
        }                                                                                          \
        char whole[PATH_MAX];                                                                      \
        pthread_mutex_lock(&lock);                                                                 \
        int fd = failing(below(path, whole), 0, 0) ? -1 : opened(real arguments, path, flags);        \
        pthread_mutex_unlock(&lock);                                                               \
        return fd;                                                                                 \
    }
OPEN(open, REAL(int, open, const char *, int, ...), (const char *path, int flags, ...), (path, flags, mode))
OPEN(open64, REAL(int, open64, const char *, int, ...), (const char *path, int flags, ...), (path, flags, mode))

#define WRITE(name, type)                                                                          \
    ssize_t name(int fd, const void *bytes, size_t n, type offset) {                               \
        pthread_mutex_lock(&lock);                                                                 \
        int fails = failing(is_watched(fd), 0, 1);                                                 \
        if (fails && killed_at_write(getenv("FAULTS_FAIL"))) torn(fd, bytes, n, offset);           \
        ssize_t done = fails                                                                       \
            ? -1 : REAL(ssize_t, name, int, const void *, size_t, type)(fd, bytes, n, offset);     \
        if (done > 0 && is_watched(fd)) note('w', fd, offset, bytes, done, NULL);                  \
        pthread_mutex_unlock(&lock);                                                               \
        return done;                                                                               \
    }
WRITE(pwrite, off_t)
WRITE(pwrite64, off64_t)

ssize_t write(int fd, const void *bytes, size_t n) {
    pthread_mutex_lock(&lock);
    int fails = failing(is_watched(fd), 0, 1);
    if (fails && killed_at_write(getenv("FAULTS_FAIL"))) torn(fd, bytes, n, lseek(fd, 0, SEEK_CUR));
    ssize_t done = fails ? -1 : REAL(ssize_t, write, int, const void *, size_t)(fd, bytes, n);
    if (done > 0 && is_watched(fd)) note('w', fd, lseek(fd, 0, SEEK_CUR) - done, bytes, done, NULL);
    pthread_mutex_unlock(&lock);
    return done;
}

#define ON_DESCRIPTOR(operation, name, parameters, types, arguments, number)                       \
    int name parameters {                                                                          \
        pthread_mutex_lock(&lock);                                                                 \
        int watch = is_watched(fd);                                                                \
        int failed = (operation != 'c' && failing(watch, 0, 0)) ? -1 : REAL(int, name, types) arguments; \
        if (!failed && watch) note(operation, fd, number, "", 0, NULL);                            \
        if (operation == 'c' && watch) watched[fd] = 0;                                            \
        pthread_mutex_unlock(&lock);                                                               \
        return failed;                                                                             \
    }
#define PAIR(...) __VA_ARGS__
ON_DESCRIPTOR('s', fsync, (int fd), int, (fd), 0)
ON_DESCRIPTOR('s', fdatasync, (int fd), int, (fd), 0)
ON_DESCRIPTOR('c', close, (int fd), int, (fd), 0)
ON_DESCRIPTOR('t', ftruncate, (int fd, off_t size), PAIR(int, off_t), (fd, size), size)
ON_DESCRIPTOR('t', ftruncate64, (int fd, off64_t size), PAIR(int, off64_t), (fd, size), size)

int dup2(int from, int to) { /* what is written to `to` goes to another file from now on, which is not looked at */
    pthread_mutex_lock(&lock);
    int fd = REAL(int, dup2, int, int)(from, to);
    if (fd >= 0 && is_watched(fd)) {
        note('c', fd, 0, "", 0, NULL);
        watched[fd] = 0;
    }
    pthread_mutex_unlock(&lock);
    return fd;
}

#define ON_NAMES(operation, name, parameters, types, arguments, first, second)                     \
    int name parameters {                                                                          \
        char a[PATH_MAX], b[PATH_MAX];                                                             \
        pthread_mutex_lock(&lock);                                                                 \
        int failed = failing(below(first, a), operation == 'u', 0) ? -1 : REAL(int, name, types) arguments; \
        if (!failed && below(first, a) && below(second, b)) note(operation, -1, 0, a, strlen(a), b); \
        pthread_mutex_unlock(&lock);                                                               \
        return failed;                                                                             \
    }
ON_NAMES('r', rename, (const char *from, const char *to), PAIR(const char *, const char *), (from, to), from, to)
ON_NAMES('l', link, (const char *from, const char *to), PAIR(const char *, const char *), (from, to), from, to)
ON_NAMES('l', linkat, (int d, const char *from, int e, const char *to, int flags),
         PAIR(int, const char *, int, const char *, int), (d, from, e, to, flags), from, to)
ON_NAMES('u', unlink, (const char *path), const char *, (path), path, path)
