package io.troupe.engine.weights;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Memory of the C library, freed when its segments are unreachable.
 *
 * <p>{@link Arena#ofAuto} frees in the same way, but reserves what it allocates within the limit of
 * direct buffers (-XX:MaxDirectMemorySize, by default the heap's), which must not bound weights:
 * only the memory of the machine bounds them.
 */
final class MallocArena implements Arena {
  private static final MethodHandle MALLOC =
      function("malloc", FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.JAVA_LONG));
  private static final MethodHandle FREE =
      function("free", FunctionDescriptor.ofVoid(ValueLayout.ADDRESS));

  private final Arena reachable = Arena.ofAuto();

  @SuppressWarnings("restricted") // both functions are of the C library
  private static MethodHandle function(String name, FunctionDescriptor type) {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), type);
  }

  @Override
  @SuppressWarnings("restricted") // malloc allocated exactly this segment
  public MemorySegment allocate(long bytes, long alignment) {
    long size = Math.max(1, Math.addExact(bytes, alignment));
    MemorySegment start = malloc(size);
    if (start.equals(MemorySegment.NULL)) {
      throw new OutOfMemoryError("the machine has no %d bytes left for weights".formatted(size));
    }
    long ahead = Math.floorMod(-start.address(), alignment);
    return start.reinterpret(size, reachable, MallocArena::free).asSlice(ahead, bytes);
  }

  private static MemorySegment malloc(long size) {
    try {
      return (MemorySegment) MALLOC.invokeExact(size);
    } catch (Throwable impossible) {
      throw new AssertionError("malloc throws nothing", impossible);
    }
  }

  private static void free(MemorySegment start) {
    try {
      FREE.invokeExact(start);
    } catch (Throwable impossible) {
      throw new AssertionError("free throws nothing", impossible);
    }
  }

  @Override
  public MemorySegment.Scope scope() {
    return reachable.scope();
  }

  @Override
  public void close() {
    throw new UnsupportedOperationException("it is freed when its segments are unreachable");
  }
}
