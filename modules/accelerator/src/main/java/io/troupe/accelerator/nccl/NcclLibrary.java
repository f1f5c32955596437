package io.troupe.accelerator.nccl;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.troupe.base.foreign.ForeignFunctions;
import io.troupe.base.foreign.ProcessEnvironment;
import io.troupe.engine.parallel.Span;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The functions of {@code libnccl.so.2}, by NCCL's C interface. Groups are joined without blocking
 * ({@code NCCL_COMM_BLOCKING=0}, which NCCL reads at that call): a rank that never comes must not
 * keep a thread inside the library.
 *
 * @see <a href="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/api.html">NCCL's API</a>
 */
public final class NcclLibrary {
  private static final MemoryLayout ID =
      MemoryLayout.structLayout(MemoryLayout.sequenceLayout(NcclUniqueId.BYTES, JAVA_BYTE));
  private static final int SUM = 0;
  private static final long MESSAGE_BYTES = 4096;

  private final NativeLibrary library;
  private final MethodHandle getVersion;
  private final MethodHandle getUniqueId;
  private final MethodHandle commInitRank;
  private final MethodHandle commGetAsyncError;
  private final MethodHandle commAbort;
  private final MethodHandle commDestroy;
  private final MethodHandle broadcast;
  private final MethodHandle allReduce;
  private final MethodHandle reduceScatter;
  private final MethodHandle allGather;
  private final Optional<MethodHandle> getLastError;

  private NcclLibrary(NativeLibrary library) {
    this.library = library;
    getVersion = library.function("ncclGetVersion", ADDRESS);
    getUniqueId = library.function("ncclGetUniqueId", ADDRESS);
    commInitRank = library.function("ncclCommInitRank", ADDRESS, JAVA_INT, ID, JAVA_INT);
    commGetAsyncError = library.function("ncclCommGetAsyncError", ADDRESS, ADDRESS);
    commAbort = library.function("ncclCommAbort", ADDRESS);
    commDestroy = library.function("ncclCommDestroy", ADDRESS);
    broadcast = collective("ncclBroadcast", JAVA_INT, JAVA_INT);
    allReduce = collective("ncclAllReduce", JAVA_INT, JAVA_INT);
    reduceScatter = collective("ncclReduceScatter", JAVA_INT, JAVA_INT);
    allGather = collective("ncclAllGather", JAVA_INT);
    getLastError = library.find("ncclGetLastError", FunctionDescriptor.of(ADDRESS, ADDRESS));
  }

  /** A function of source, destination, count, numbers of its own, communicator and stream. */
  private MethodHandle collective(String name, MemoryLayout... numbers) {
    MemoryLayout[] arguments = new MemoryLayout[numbers.length + 5];
    arguments[0] = ADDRESS;
    arguments[1] = ADDRESS;
    arguments[2] = JAVA_LONG;
    System.arraycopy(numbers, 0, arguments, 3, numbers.length);
    arguments[arguments.length - 2] = ADDRESS;
    arguments[arguments.length - 1] = ADDRESS;
    return library.function(name, arguments);
  }

  /**
   * Opens a library.
   *
   * @throws AcceleratorException if it cannot be loaded, or lacks a function
   */
  public static NcclLibrary open(Path file) {
    return new NcclLibrary(NativeLibrary.open(file));
  }

  /** Returns the file that was opened. */
  public Path file() {
    return library.file();
  }

  private static NcclResult result(ForeignFunctions.Call<Integer> call) {
    return NcclResult.of(ForeignFunctions.call(call));
  }

  private static void requireFine(String function, NcclResult result) {
    if (!result.fine()) {
      throw new AcceleratorException("%s: %s".formatted(function, result));
    }
  }

  /** Returns the version as NCCL numbers it, such as 23007 for 2.30.7. */
  public int versionCode() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment code = arena.allocate(JAVA_INT);
      requireFine("ncclGetVersion", result(() -> (int) getVersion.invokeExact(code)));
      return code.get(JAVA_INT, 0);
    }
  }

  /** Returns the version in words, such as 2.30.7. */
  public String version() {
    int code = versionCode();
    return "%d.%d.%d".formatted(code / 10_000, code / 100 % 100, code % 100);
  }

  /** Creates the id of a new group. */
  public NcclUniqueId newUniqueId() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment id = arena.allocate(ID);
      requireFine("ncclGetUniqueId", result(() -> (int) getUniqueId.invokeExact(id)));
      return new NcclUniqueId(id.toArray(JAVA_BYTE));
    }
  }

  /** Begins to join a group; the communicator appears in a segment of one address. */
  NcclResult beginJoin(MemorySegment communicator, int size, NcclUniqueId id, int rank) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment copy = arena.allocate(ID);
      copy.copyFrom(MemorySegment.ofArray(id.bytes()));
      return ProcessEnvironment.with(
          "NCCL_COMM_BLOCKING",
          "0",
          () -> result(() -> (int) commInitRank.invokeExact(communicator, size, copy, rank)));
    }
  }

  /** Returns what became of the calls of a communicator so far. */
  NcclResult asyncError(MemorySegment communicator) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment error = arena.allocate(JAVA_INT);
      NcclResult asked = result(() -> (int) commGetAsyncError.invokeExact(communicator, error));
      return asked.fine() ? NcclResult.of(error.get(JAVA_INT, 0)) : asked;
    }
  }

  NcclResult abort(MemorySegment communicator) {
    return result(() -> (int) commAbort.invokeExact(communicator));
  }

  NcclResult destroy(MemorySegment communicator) {
    return result(() -> (int) commDestroy.invokeExact(communicator));
  }

  NcclResult broadcast(Span values, int root, MemorySegment communicator, MemorySegment stream) {
    MemorySegment at = MemorySegment.ofAddress(values.address());
    return result(
        () ->
            (int)
                broadcast.invokeExact(
                    at, at, values.count(), type(values), root, communicator, stream));
  }

  NcclResult allReduce(Span values, MemorySegment communicator, MemorySegment stream) {
    MemorySegment at = MemorySegment.ofAddress(values.address());
    return result(
        () ->
            (int)
                allReduce.invokeExact(
                    at, at, values.count(), type(values), SUM, communicator, stream));
  }

  NcclResult reduceScatter(Span all, Span piece, MemorySegment communicator, MemorySegment stream) {
    MemorySegment from = MemorySegment.ofAddress(all.address());
    MemorySegment to = MemorySegment.ofAddress(piece.address());
    return result(
        () ->
            (int)
                reduceScatter.invokeExact(
                    from, to, piece.count(), type(all), SUM, communicator, stream));
  }

  NcclResult allGather(Span piece, Span all, MemorySegment communicator, MemorySegment stream) {
    MemorySegment from = MemorySegment.ofAddress(piece.address());
    MemorySegment to = MemorySegment.ofAddress(all.address());
    return result(
        () ->
            (int)
                allGather.invokeExact(from, to, piece.count(), type(piece), communicator, stream));
  }

  /** Returns NCCL's own words on its last failure; empty where it has none. */
  @SuppressWarnings("restricted") // NCCL returns a C string of at most a few hundred bytes
  String lastError(MemorySegment communicator) {
    if (getLastError.isEmpty()) {
      return "";
    }
    MethodHandle function = getLastError.get();
    MemorySegment text =
        ForeignFunctions.call(() -> (MemorySegment) function.invokeExact(communicator));
    return text.equals(MemorySegment.NULL)
        ? ""
        : text.reinterpret(MESSAGE_BYTES).getString(0).strip();
  }

  /** Returns the number of an element type in {@code ncclDataType_t}. */
  private static int type(Span span) {
    return switch (span.element()) {
      case U8 -> 1;
      case F32 -> 7;
      case F64 -> 8;
      case BF16 -> 9;
    };
  }
}
