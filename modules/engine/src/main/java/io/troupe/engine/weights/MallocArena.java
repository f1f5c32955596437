package io.troupe.engine.weights;

import io.troupe.base.foreign.ForeignFunctions;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
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
      ForeignFunctions.ofTheCLibrary(
          "malloc", FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.JAVA_LONG));
  private static final MethodHandle FREE =
      ForeignFunctions.ofTheCLibrary("free", FunctionDescriptor.ofVoid(ValueLayout.ADDRESS));

  private final Arena reachable = Arena.ofAuto();

  @Override
  @SuppressWarnings("restricted") // malloc allocated exactly this segment
  public MemorySegment allocate(long bytes, long alignment) {
    long size = Math.max(1, Math.addExact(bytes, alignment));
    MemorySegment start = ForeignFunctions.call(() -> (MemorySegment) MALLOC.invokeExact(size));
    if (start.equals(MemorySegment.NULL)) {
      throw new OutOfMemoryError("the machine has no %d bytes left for weights".formatted(size));
    }
    long ahead = Math.floorMod(-start.address(), alignment);
    return start.reinterpret(size, reachable, MallocArena::free).asSlice(ahead, bytes);
  }

  private static void free(MemorySegment start) {
    ForeignFunctions.call(
        () -> {
          FREE.invokeExact(start);
          return start;
        });
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
