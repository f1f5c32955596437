package io.troupe.engine.djl.torch;

import ai.djl.pytorch.jni.LibUtils;
import io.troupe.base.foreign.ForeignFunctions;
import io.troupe.engine.parallel.Span;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/**
 * The addresses of tensors, on any device and of any type, so that a collective of the device reads
 * and writes them where they are.
 *
 * <p>DJL's handle of a tensor is a pointer to libtorch's tensor, which is what the functions of
 * libtorch's stable C interface take.
 */
public final class TensorSpans {
  private static final String FUNCTION = "aoti_torch_get_data_ptr";

  private final MethodHandle dataPointer;

  private TensorSpans(MethodHandle dataPointer) {
    this.dataPointer = dataPointer;
  }

  /**
   * Finds the function in the libtorch of this process.
   *
   * @throws IllegalStateException if it has none
   */
  @SuppressWarnings(
      "restricted") // the signature is that of torch/csrc/inductor/aoti_torch/c/shim.h
  public static TensorSpans load() {
    Torch.load();
    Path library = Path.of(LibUtils.getLibtorchPath(), System.mapLibraryName("torch_cpu"));
    MemorySegment address =
        SymbolLookup.libraryLookup(library, Arena.global())
            .find(FUNCTION)
            .orElseThrow(
                () ->
                    new IllegalStateException(
                        "%s has no function %s; use PyTorch 2.7 or newer"
                            .formatted(library, FUNCTION)));
    return new TensorSpans(
        Linker.nativeLinker()
            .downcallHandle(
                address,
                FunctionDescriptor.of(
                    ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS)));
  }

  /**
   * Returns the elements of a contiguous tensor, which stays open meanwhile.
   *
   * @param element type of its elements
   * @param count number of elements
   */
  public Span.Device of(NativeTensor tensor, Span.Element element, long count) {
    MemorySegment handle = MemorySegment.ofAddress(tensor.handle());
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment pointer = arena.allocate(ValueLayout.ADDRESS);
      int error = ForeignFunctions.call(() -> (int) dataPointer.invokeExact(handle, pointer));
      if (error != 0) {
        throw new IllegalStateException("%s failed with %d".formatted(FUNCTION, error));
      }
      long address = pointer.get(ValueLayout.ADDRESS, 0).address();
      return new Span.Device(address, count * element.bytes(), element);
    }
  }
}
