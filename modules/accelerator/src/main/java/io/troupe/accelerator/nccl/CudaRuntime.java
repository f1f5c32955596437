package io.troupe.accelerator.nccl;

import static io.troupe.base.foreign.ForeignFunctions.call;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/**
 * The functions of {@code libcudart.so} that collectives and copies need. A failed function throws
 * an {@link AcceleratorException} with CUDA's own words.
 *
 * @see <a href="https://docs.nvidia.com/cuda/cuda-runtime-api/">CUDA Runtime API</a>
 */
public final class CudaRuntime {
  private static final int NON_BLOCKING = 1;
  private static final int NOT_READY = 600;
  private static final int COPY_BY_ADDRESS = 4; // the driver sees which side is the device's
  private static final long MESSAGE_BYTES = 1024;

  private final NativeLibrary library;
  private final MethodHandle getDeviceCount;
  private final MethodHandle setDevice;
  private final MethodHandle streamCreate;
  private final MethodHandle streamDestroy;
  private final MethodHandle streamQuery;
  private final MethodHandle allocate;
  private final MethodHandle free;
  private final MethodHandle copy;
  private final MethodHandle hostRegister;
  private final MethodHandle hostUnregister;
  private final MethodHandle errorString;

  private CudaRuntime(NativeLibrary library) {
    this.library = library;
    getDeviceCount = library.function("cudaGetDeviceCount", ADDRESS);
    setDevice = library.function("cudaSetDevice", JAVA_INT);
    streamCreate = library.function("cudaStreamCreateWithFlags", ADDRESS, JAVA_INT);
    streamDestroy = library.function("cudaStreamDestroy", ADDRESS);
    streamQuery = library.function("cudaStreamQuery", ADDRESS);
    allocate = library.function("cudaMalloc", ADDRESS, JAVA_LONG);
    free = library.function("cudaFree", ADDRESS);
    copy = library.function("cudaMemcpyAsync", ADDRESS, ADDRESS, JAVA_LONG, JAVA_INT, ADDRESS);
    hostRegister = library.function("cudaHostRegister", ADDRESS, JAVA_LONG, JAVA_INT);
    hostUnregister = library.function("cudaHostUnregister", ADDRESS);
    errorString =
        library
            .find("cudaGetErrorString", FunctionDescriptor.of(ADDRESS, JAVA_INT))
            .orElseThrow(() -> new AcceleratorException(library.file() + " is no CUDA runtime"));
  }

  /**
   * Opens a library.
   *
   * @throws AcceleratorException if it cannot be loaded, or lacks a function
   */
  public static CudaRuntime open(Path file) {
    return new CudaRuntime(NativeLibrary.open(file));
  }

  private void require(String function, int result) {
    if (result != 0) {
      throw new AcceleratorException("%s: %s".formatted(function, words(result)));
    }
  }

  @SuppressWarnings("restricted") // CUDA returns a constant C string
  private String words(int result) {
    MemorySegment text = call(() -> (MemorySegment) errorString.invokeExact(result));
    return "%s (%d)".formatted(text.reinterpret(MESSAGE_BYTES).getString(0), result);
  }

  /**
   * Returns the number of devices.
   *
   * @throws AcceleratorException if there is no driver, in CUDA's words
   */
  public int devices() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment count = arena.allocate(JAVA_INT);
      require("cudaGetDeviceCount", call(() -> (int) getDeviceCount.invokeExact(count)));
      return count.get(JAVA_INT, 0);
    }
  }

  /**
   * The memory of a device.
   *
   * @param used bytes, of this and of other processes
   * @param total bytes
   */
  public record DeviceMemory(long used, long total) {}

  /** Returns the memory of a device, which becomes that of this thread's calls. */
  public DeviceMemory memory(int device) {
    MethodHandle memGetInfo = library.function("cudaMemGetInfo", ADDRESS, ADDRESS);
    setDevice(device);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment unused = arena.allocate(JAVA_LONG);
      MemorySegment total = arena.allocate(JAVA_LONG);
      require("cudaMemGetInfo", call(() -> (int) memGetInfo.invokeExact(unused, total)));
      long all = total.get(JAVA_LONG, 0);
      return new DeviceMemory(all - unused.get(JAVA_LONG, 0), all);
    }
  }

  /** Makes a device that of this thread's calls. */
  public void setDevice(int device) {
    require("cudaSetDevice", call(() -> (int) setDevice.invokeExact(device)));
  }

  /** Creates a stream whose work does not wait for the default stream. */
  public MemorySegment newStream() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment stream = arena.allocate(ADDRESS);
      require(
          "cudaStreamCreateWithFlags",
          call(() -> (int) streamCreate.invokeExact(stream, NON_BLOCKING)));
      return stream.get(ADDRESS, 0);
    }
  }

  /** Destroys a stream. */
  public void destroy(MemorySegment stream) {
    require("cudaStreamDestroy", call(() -> (int) streamDestroy.invokeExact(stream)));
  }

  /** Returns whether all work of a stream is done; throws if a part of it failed. */
  public boolean isDone(MemorySegment stream) {
    int state = call(() -> (int) streamQuery.invokeExact(stream));
    if (state == NOT_READY) {
      return false;
    }
    require("cudaStreamQuery", state);
    return true;
  }

  /** Allocates memory of the device. */
  public long allocate(long bytes) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment address = arena.allocate(ADDRESS);
      require("cudaMalloc", call(() -> (int) allocate.invokeExact(address, bytes)));
      return address.get(ADDRESS, 0).address();
    }
  }

  /** Frees memory of the device. */
  public void free(long address) {
    MemorySegment memory = MemorySegment.ofAddress(address);
    require("cudaFree", call(() -> (int) free.invokeExact(memory)));
  }

  /** Begins to copy memory, of the host or the device, as work of a stream. */
  public void copy(long from, long to, long bytes, MemorySegment stream) {
    MemorySegment source = MemorySegment.ofAddress(from);
    MemorySegment target = MemorySegment.ofAddress(to);
    require(
        "cudaMemcpyAsync",
        call(() -> (int) copy.invokeExact(target, source, bytes, COPY_BY_ADDRESS, stream)));
  }

  /** Pins memory of the host, so that copies of it are fast and run beside other work. */
  public void pin(MemorySegment memory) {
    require(
        "cudaHostRegister",
        call(() -> (int) hostRegister.invokeExact(memory, memory.byteSize(), 0)));
  }

  /** Releases memory of the host that was pinned. */
  public void unpin(MemorySegment memory) {
    require("cudaHostUnregister", call(() -> (int) hostUnregister.invokeExact(memory)));
  }
}
