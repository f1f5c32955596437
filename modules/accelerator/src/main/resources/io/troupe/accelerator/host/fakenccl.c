/* A stand-in for libnccl.so.2 and libcudart.so on a host without GPUs, for tests and rehearsals.
 *
 * It has their C interface. A device's memory is the host's. Ranks meet in a file of shared memory
 * that the unique id names. An operation is work of a thread of its communicator, and its stream is
 * not ready before: so a caller that does not wait reads garbage. A communicator that was aborted or
 * destroyed refuses every call, and fake_calls says so.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SUCCESS 0
#define SYSTEM_ERROR 2
#define INVALID_ARGUMENT 4
#define INVALID_USAGE 5
#define REMOTE_ERROR 6
#define IN_PROGRESS 7
#define SLOT (256u << 10)
#define MOST_RANKS 16
#define NOT_READY 600

typedef struct { char internal[128]; } ncclUniqueId;
typedef struct { _Atomic int pending; } stream;
typedef struct {
  _Atomic int joined, lost;
  _Atomic int version[MOST_RANKS];
  _Atomic uint64_t written, read;
} head;
typedef struct operation {
  int kind, type, root;
  const char *from;
  char *to;
  size_t bytes;
  stream *on;
  struct operation *next;
} operation;
typedef struct {
  head *shared;
  char *slots;
  int rank, size;
  uint64_t round;
  ncclUniqueId id;
  _Atomic int state, ended;
  pthread_mutex_t lock;
  pthread_cond_t more;
  operation *first, *last;
} comm;

enum { BROADCAST, ALL_REDUCE, REDUCE_SCATTER, ALL_GATHER };

static int version_code = 23007;
static stream default_stream;
static char calls[1 << 16];
static size_t calls_length;
static pthread_mutex_t calls_lock = PTHREAD_MUTEX_INITIALIZER;

static void note(const char *format, ...) {
  va_list arguments;
  pthread_mutex_lock(&calls_lock);
  va_start(arguments, format);
  int length = vsnprintf(calls + calls_length, sizeof calls - calls_length, format, arguments);
  va_end(arguments);
  if (length > 0 && calls_length + length < sizeof calls) calls_length += length;
  pthread_mutex_unlock(&calls_lock);
}

/* What was called since the last question, a line a call. */
const char *fake_calls(void) {
  static char copy[sizeof calls];
  pthread_mutex_lock(&calls_lock);
  memcpy(copy, calls, calls_length);
  copy[calls_length] = 0;
  calls_length = 0;
  pthread_mutex_unlock(&calls_lock);
  return copy;
}

void fake_set_version(int code) { version_code = code; }

static int own_version(void) {
  const char *told = getenv("FAKE_NCCL_VERSION");
  return told ? atoi(told) : version_code;
}

static size_t width(int type) {
  switch (type) {
    case 0: case 1: return 1;
    case 6: case 9: return 2;
    case 2: case 3: case 7: return 4;
    default: return 8;
  }
}

static float widen(uint16_t bits) {
  uint32_t all = (uint32_t)bits << 16;
  float value;
  memcpy(&value, &all, 4);
  return value;
}

static uint16_t narrow(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  return (uint16_t)((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

static int gone(comm *c) { return atomic_load(&c->ended) || atomic_load(&c->shared->lost); }

/* Every rank adds 1; all wait until each has. */
static int meet(comm *c, _Atomic uint64_t *counter) {
  atomic_fetch_add(counter, 1);
  while (atomic_load(counter) < (uint64_t)c->size * c->round) {
    if (gone(c)) return REMOTE_ERROR;
    usleep(20);
  }
  return SUCCESS;
}

static int put(comm *c, const char *from, size_t bytes) {
  c->round++;
  if (from) memcpy(c->slots + (size_t)SLOT * c->rank, from, bytes);
  return meet(c, &c->shared->written);
}

static int done(comm *c) { return meet(c, &c->shared->read); }

static int sum(comm *c, int type, size_t bytes, char *to) {
  for (size_t at = 0; at < bytes; at += width(type)) {
    double total = 0;
    for (int r = 0; r < c->size; r++) {
      char *value = c->slots + (size_t)SLOT * r + at;
      total += type == 7 ? *(float *)value : type == 8 ? *(double *)value : widen(*(uint16_t *)value);
    }
    if (!to) continue;
    if (type == 7) *(float *)(to + at) = (float)total;
    else if (type == 8) *(double *)(to + at) = total;
    else *(uint16_t *)(to + at) = narrow((float)total);
  }
  return SUCCESS;
}

static int reduce(comm *c, int type, const char *from, size_t bytes, char *to) {
  for (size_t at = 0; at < bytes; at += SLOT) {
    size_t part = bytes - at < SLOT ? bytes - at : SLOT;
    int failed = put(c, from + at, part);
    if (failed) return failed;
    sum(c, type, part, to ? to + at : 0);
    if ((failed = done(c))) return failed;
  }
  return SUCCESS;
}

static int perform(comm *c, operation *o) {
  if (o->kind == ALL_REDUCE) return reduce(c, o->type, o->from, o->bytes, o->to);
  if (o->kind == REDUCE_SCATTER) {
    int failed = 0;
    for (int r = 0; r < c->size && !failed; r++)
      failed = reduce(c, o->type, o->from + (size_t)r * o->bytes, o->bytes, r == c->rank ? o->to : 0);
    return failed;
  }
  for (size_t at = 0; at < o->bytes; at += SLOT) {
    size_t part = o->bytes - at < SLOT ? o->bytes - at : SLOT;
    int sends = o->kind == ALL_GATHER || c->rank == o->root;
    int failed = put(c, sends ? o->from + at : 0, part);
    if (failed) return failed;
    for (int r = 0; r < c->size; r++)
      if (o->kind == ALL_GATHER) memcpy(o->to + (size_t)r * o->bytes + at, c->slots + (size_t)SLOT * r, part);
      else if (r == o->root && c->rank != r) memcpy(o->to + at, c->slots + (size_t)SLOT * r, part);
    if ((failed = done(c))) return failed;
  }
  return SUCCESS;
}

static void name_of(const ncclUniqueId *id, char *name) {
  strcpy(name, "/fakenccl-");
  for (int i = 0; i < 12; i++) sprintf(name + 10 + 2 * i, "%02x", (unsigned char)id->internal[i]);
}

static int join(comm *c) {
  atomic_store(&c->shared->version[c->rank], own_version());
  atomic_fetch_add(&c->shared->joined, 1);
  while (atomic_load(&c->shared->joined) < c->size) {
    if (gone(c)) return REMOTE_ERROR;
    usleep(50);
  }
  char name[64];
  name_of(&c->id, name);
  shm_unlink(name); /* all have it open */
  for (int r = 0; r < c->size; r++)
    if (atomic_load(&c->shared->version[r]) != own_version()) return INVALID_USAGE;
  return SUCCESS;
}

static void *work(void *argument) {
  comm *c = argument;
  int joined = join(c);
  atomic_store(&c->state, joined);
  while (!joined) {
    pthread_mutex_lock(&c->lock);
    while (!c->first && !atomic_load(&c->ended)) pthread_cond_wait(&c->more, &c->lock);
    operation *o = c->first;
    if (o) c->first = o->next;
    if (!c->first) c->last = 0;
    pthread_mutex_unlock(&c->lock);
    if (!o) return 0;
    int failed = perform(c, o);
    if (failed && !atomic_load(&c->ended)) {
      atomic_store(&c->state, failed); /* the stream stays busy, as a device that hangs */
      return 0;
    }
    atomic_fetch_sub(&o->on->pending, 1);
    free(o);
  }
  return 0;
}

int ncclGetVersion(int *code) { *code = own_version(); return SUCCESS; }

const char *ncclGetErrorString(int result) { return result ? "an error" : "no error"; }

int ncclGetUniqueId(ncclUniqueId *id) {
  int random = open("/dev/urandom", O_RDONLY);
  int whole = read(random, id, sizeof *id) == sizeof *id;
  close(random);
  note("ncclGetUniqueId\n");
  return whole ? SUCCESS : SYSTEM_ERROR;
}

int ncclCommInitRank(comm **out, int size, ncclUniqueId id, int rank) {
  const char *blocking = getenv("NCCL_COMM_BLOCKING");
  int waits = !blocking || strcmp(blocking, "0");
  char name[64];
  name_of(&id, name);
  note("ncclCommInitRank size=%d rank=%d %s\n", size, rank, waits ? "blocking" : "non-blocking");
  if (size > MOST_RANKS) return INVALID_ARGUMENT;
  size_t length = 4096 + (size_t)SLOT * size;
  int file = shm_open(name, O_CREAT | O_RDWR, 0600);
  if (file < 0 || ftruncate(file, length)) return SYSTEM_ERROR;
  char *memory = mmap(0, length, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  comm *c = calloc(1, sizeof *c);
  c->shared = (head *)memory;
  c->slots = memory + 4096;
  c->rank = rank;
  c->size = size;
  c->id = id;
  c->state = IN_PROGRESS;
  pthread_mutex_init(&c->lock, 0);
  pthread_cond_init(&c->more, 0);
  *out = c;
  pthread_t thread;
  pthread_create(&thread, 0, work, c);
  pthread_detach(thread);
  while (waits && atomic_load(&c->state) == IN_PROGRESS) usleep(50);
  return atomic_load(&c->state);
}

static int dead(comm *c, const char *function) {
  if (!c || !atomic_load(&c->ended)) return 0;
  note("%s AFTER ITS END\n", function);
  return 1;
}

static int launch(const char *function, comm *c, operation described) {
  note("%s count=%zu type=%d root=%d stream=%s\n", function, described.bytes / width(described.type),
      described.type, described.root, described.on == &default_stream ? "default" : "own");
  if (dead(c, function)) return INVALID_ARGUMENT;
  if (described.kind <= REDUCE_SCATTER && described.kind != BROADCAST && described.type != 7
      && described.type != 8 && described.type != 9) return INVALID_ARGUMENT;
  operation *o = malloc(sizeof *o);
  *o = described;
  atomic_fetch_add(&o->on->pending, 1);
  pthread_mutex_lock(&c->lock);
  if (c->last) c->last->next = o;
  else c->first = o;
  c->last = o;
  pthread_cond_signal(&c->more);
  pthread_mutex_unlock(&c->lock);
  return SUCCESS;
}

static stream *real(stream *given) { return given ? given : &default_stream; }

int ncclBroadcast(const void *from, void *to, size_t count, int type, int root, comm *c, stream *s) {
  operation o = {BROADCAST, type, root, from, to, count * width(type), real(s), 0};
  return launch("ncclBroadcast", c, o);
}

int ncclAllReduce(const void *from, void *to, size_t count, int type, int op, comm *c, stream *s) {
  operation o = {ALL_REDUCE, type, op, from, to, count * width(type), real(s), 0};
  return launch("ncclAllReduce", c, o);
}

int ncclReduceScatter(const void *from, void *to, size_t count, int type, int op, comm *c, stream *s) {
  operation o = {REDUCE_SCATTER, type, op, from, to, count * width(type), real(s), 0};
  return launch("ncclReduceScatter", c, o);
}

int ncclAllGather(const void *from, void *to, size_t count, int type, comm *c, stream *s) {
  operation o = {ALL_GATHER, type, 0, from, to, count * width(type), real(s), 0};
  return launch("ncclAllGather", c, o);
}

int ncclCommGetAsyncError(comm *c, int *error) {
  if (dead(c, "ncclCommGetAsyncError")) return INVALID_ARGUMENT;
  *error = atomic_load(&c->state);
  return SUCCESS;
}

const char *ncclGetLastError(comm *c) {
  if (c && atomic_load(&c->state) == INVALID_USAGE) return "Mismatched NCCL version detected";
  return "";
}

static int end(comm *c, const char *function, int lost) {
  note("%s\n", function);
  if (dead(c, function)) return INVALID_ARGUMENT;
  if (lost) atomic_store(&c->shared->lost, 1);
  atomic_store(&c->ended, 1);
  pthread_mutex_lock(&c->lock);
  pthread_cond_signal(&c->more);
  pthread_mutex_unlock(&c->lock);
  char name[64];
  name_of(&c->id, name);
  shm_unlink(name);
  return SUCCESS;
}

int ncclCommAbort(comm *c) { return end(c, "ncclCommAbort", 1); }

int ncclCommDestroy(comm *c) { return end(c, "ncclCommDestroy", 0); }

int cudaGetDeviceCount(int *count) { *count = 1; return 0; }

int cudaSetDevice(int device) { note("cudaSetDevice %d\n", device); return device ? 101 : 0; }

int cudaStreamCreateWithFlags(stream **out, unsigned flags) {
  note("cudaStreamCreateWithFlags %u\n", flags);
  *out = calloc(1, sizeof **out);
  return 0;
}

int cudaStreamDestroy(stream *s) { note("cudaStreamDestroy\n"); (void)s; return 0; }

int cudaStreamQuery(stream *s) { return atomic_load(&real(s)->pending) ? NOT_READY : 0; }

int cudaMemGetInfo(size_t *unused, size_t *total) {
  size_t page = sysconf(_SC_PAGESIZE);
  *unused = page * sysconf(_SC_AVPHYS_PAGES);
  *total = page * sysconf(_SC_PHYS_PAGES);
  return 0;
}

int cudaMalloc(void **out, size_t bytes) { *out = malloc(bytes); return *out ? 0 : 2; }

int cudaFree(void *memory) { free(memory); return 0; }

int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, stream *s) {
  note("cudaMemcpyAsync %zu kind=%d\n", bytes, kind);
  (void)s;
  memcpy(to, from, bytes);
  return 0;
}

int cudaHostRegister(void *memory, size_t bytes, unsigned flags) {
  note("cudaHostRegister %zu %u\n", bytes, flags);
  return memory ? 0 : 1;
}

int cudaHostUnregister(void *memory) { (void)memory; note("cudaHostUnregister\n"); return 0; }

const char *cudaGetErrorString(int error) { return error == 101 ? "invalid device ordinal" : "an error"; }
